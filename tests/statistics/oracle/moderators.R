# Writes moderators.json: what R's metafor computes of meta-regressions, the reference of test_meta_regression.py.
#
#   Rscript moderators.R > moderators.json        (Debian: r-cran-metafor; made with metafor 3.8-1)
#
# `Rscript moderators.R quick` leaves out the permutation tests, which take most of the time.
#
# dat.bcg: the 13 trials of the BCG vaccine (Colditz et al. 1994), log risk ratios. metafor's own tolerances are too coarse
# at the scale of tau2 here, so they are set to the precision of a double. Its permutation tests are exact where stored.

suppressPackageStartupMessages(library(metafor))

bcg <- escalc(measure = "RR", ai = tpos, bi = tneg, ci = cpos, di = cneg, data = dat.bcg)
seven <- list(
  yi = c(0.1847, 0.0089, 0.0071, 0.0310, 0.1221, 0.0255, 0.0292),
  vi = c(0.0424, 0.0026, 0.0052, 0.0064, 0.0109, 0.0166, 0.0106)^2
)
size <- log10(c(171332, 1523878, 3633, 4635922, 403666, 105000, 528155))
kind <- c("a", "b", "a", "b", "a", "b", "b")
cases <- list(
  bcg_latitude = list(yi = c(bcg$yi), vi = c(bcg$vi), mods = list(ablat = bcg$ablat)),
  bcg_year = list(yi = c(bcg$yi), vi = c(bcg$vi), mods = list(year = bcg$year)),
  bcg_both = list(yi = c(bcg$yi), vi = c(bcg$vi), mods = list(ablat = bcg$ablat, year = bcg$year)),
  bcg_allocation = list(yi = c(bcg$yi), vi = c(bcg$vi), mods = list(alloc = bcg$alloc)),
  bcg_mixed = list(yi = c(bcg$yi), vi = c(bcg$vi), mods = list(alloc = bcg$alloc, ablat = bcg$ablat)),
  seven_size = list(yi = seven$yi, vi = seven$vi, mods = list(size = size), level = 90),
  seven_kind = list(yi = seven$yi, vi = seven$vi, mods = list(kind = kind)),
  explained = list(yi = c(0.1, 0.21, 0.29, 0.41, 0.5), vi = c(4e-4, 2e-4, 9e-4, 1e-4, 3e-4), mods = list(x = 1:5))
)

number <- function(x) ifelse(is.na(x), "null", sprintf("%.17g", x))
vector <- function(x) paste0("[", paste(number(x), collapse = ", "), "]")
words <- function(x) paste0("[", paste0('"', x, '"', collapse = ", "), "]")
values <- function(x) if (is.character(x)) words(x) else vector(x)
object <- function(x) paste0("{", paste0('"', names(x), '": ', unlist(x), collapse = ", "), "}")

control <- function(case) {
  scale <- min(case$vi) + rma(case$yi, case$vi, method = "DL")$tau2
  list(tol = 1e-16 * scale, threshold = 1e-12 * scale, maxiter = 100000, tau2.max = 1e4 * max(case$vi, 1))
}

# Levels in the order in which they first come, as ours.
frame <- function(case) data.frame(lapply(case$mods, function(x) if (is.character(x)) factor(x, unique(x)) else x))

fit_one <- function(case, method, test, permuted) {
  level <- if (is.null(case$level)) 95 else case$level
  mods <- as.formula(paste("~", paste(names(case$mods), collapse = "+")))
  fit <- rma(case$yi, case$vi, mods = mods, data = frame(case), method = method, test = test, level = level,
             control = control(case))
  parts <- list(
    estimator = paste0('"', method, '"'), test = paste0('"', test, '"'),
    coefficients = vector(fit$beta), se = vector(fit$se), ci_low = vector(fit$ci.lb), ci_high = vector(fit$ci.ub),
    p_values = vector(fit$pval), tau2 = number(fit$tau2), qe = number(fit$QE), qe_p_value = number(fit$QEp),
    qm = number(fit$QM), qm_p_value = number(fit$QMp), i2 = number(fit$I2), h2 = number(fit$H2),
    r2 = if (is.null(fit$R2)) "null" else number(fit$R2), weights = vector(weights(fit) / 100)
  )
  if (permuted && !identical(commandArgs(TRUE), "quick")) {
    test <- permutest(fit, exact = TRUE, progbar = FALSE)
    parts$permutation <- object(list(p_values = vector(test$pval), p_value = number(test$QMp)))
  }
  object(parts)
}

means <- function(case) {
  level <- if (is.null(case$level)) 95 else case$level
  group <- factor(case$mods[[1]], unique(case$mods[[1]]))
  fit <- rma(case$yi, case$vi, mods = ~ group - 1, method = "REML", test = "adhoc", level = level, control = control(case))
  object(list(levels = words(levels(group)), effect = vector(fit$beta), se = vector(fit$se), ci_low = vector(fit$ci.lb),
              ci_high = vector(fit$ci.ub), p_values = vector(fit$pval)))
}

fit_case <- function(name) {
  case <- cases[[name]]
  fits <- c()
  for (method in c("DL", "REML", "PM")) for (test in c("z", "knha", "adhoc")) {
    permuted <- name %in% c("seven_kind", "explained") && test == "adhoc"
    fits <- c(fits, fit_one(case, method, test, permuted))
  }
  parts <- list(
    name = paste0('"', name, '"'), alpha = number(1 - (if (is.null(case$level)) 95 else case$level) / 100),
    yi = vector(case$yi), vi = vector(case$vi), mods = object(lapply(case$mods, values)),
    fits = paste0("[\n  ", paste(fits, collapse = ",\n  "), "\n ]")
  )
  if (length(case$mods) == 1 && is.character(case$mods[[1]])) parts$means <- means(case)
  object(parts)
}

cat("[\n", paste(sapply(names(cases), fit_case), collapse = ",\n "), "\n]\n", sep = "")
