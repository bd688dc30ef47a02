# Writes metafor.json: what R's metafor computes for a set of meta-analyses, the reference of test_meta_analysis.py.
#
#   Rscript metafor.R > metafor.json        (Debian: r-cran-metafor; made with metafor 3.8-1)
#
# metafor's own tolerances (about 1e-4 of tau2's search range) are too coarse at the scale of tau2 here, so they are set
# to the precision of a double. Its k = 1 fits have no Knapp-Hartung interval and no heterogeneity; those cells are null.

suppressPackageStartupMessages(library(metafor))

seven <- list(
  yi = c(0.1847, 0.0089, 0.0071, 0.0310, 0.1221, 0.0255, 0.0292),
  vi = c(0.0424, 0.0026, 0.0052, 0.0064, 0.0109, 0.0166, 0.0106)^2
)
thirty <- list(yi = 0.02 + 0.05 * sin(1:30 * 1.7), vi = (0.006 + 0.02 * abs(cos(1:30 * 2.3)))^2)
cases <- list(
  seven = seven,
  seven_narrow = c(seven, level = 99),
  seven_wide = c(seven, level = 90),
  standardised = list(yi = c(0.42, 0.11, 0.31, -0.05, 0.6, 0.2, 0.27), vi = c(0.021, 0.0011, 0.0034, 0.0027, 0.0055, 0.02, 0.0043)),
  homogeneous = list(yi = c(0.0301, 0.0312, 0.0289, 0.0305, 0.0298), vi = c(0.0004, 0.0002, 0.0009, 0.0001, 0.0003)),
  borderline = list(yi = c(0.01, 0.03, 0.05, 0.02, 0.04), vi = c(0.0004, 0.0002, 0.0005, 0.0001, 0.0003)),
  one = list(yi = 0.05, vi = 0.0004),
  two = list(yi = c(0.02, 0.09), vi = c(0.0002, 0.0005)),
  two_homogeneous = list(yi = c(0.02, 0.03), vi = c(0.0002, 0.0005)),
  three = list(yi = c(-0.04, 0.02, 0.09), vi = c(0.0003, 0.0002, 0.0005)),
  mixed_scales = list(yi = c(0.1, 0.3, -0.2, 1.5, 0.05), vi = c(2e-6, 1e-4, 1e-2, 2, 1e-5)),
  tiny = list(yi = c(2e-7, 5e-7, -1e-7, 9e-7), vi = c(1e-14, 2e-14, 4e-14, 3e-14)),
  huge = list(yi = c(120000, 340000, -50000, 210000), vi = c(4e8, 9e8, 2e9, 1e9)),
  certain = list(yi = c(0.5, 0.52, 0.49, 0.51), vi = c(1e-5, 2e-5, 1.5e-5, 3e-5)),
  thirty = thirty,
  agreeing = list(yi = c(0.0200, 0.0201, 0.0202), vi = c(0.0383, 0.0380, 0.0385)^2)
)

number <- function(x) ifelse(is.na(x), "null", ifelse(is.infinite(x), "null", sprintf("%.17g", x)))
vector <- function(x) paste0("[", paste(number(x), collapse = ", "), "]")
columns <- function(x, names) object(sapply(names, function(name) vector(x[[name]]), simplify = FALSE))
object <- function(x) paste0("{", paste0('"', names(x), '": ', unlist(x), collapse = ", "), "}")

# Both tolerances are absolute, so they follow the scale of the case.
control <- function(case) {
  scale <- min(case$vi) + if (length(case$yi) > 1) rma(case$yi, case$vi, method = "DL")$tau2 else 0
  list(tol = 1e-16 * scale, threshold = 1e-13 * scale, maxiter = 100000, tau2.max = 1e4 * max(case$vi, 1))
}

tau2_ci <- function(fit, case) {
  if (fit$k == 1) return(c(NA, NA))
  unname(confint(fit, control = control(case))$random["tau^2", c("ci.lb", "ci.ub")])
}

fit_one <- function(case, method, test) {
  level <- if (is.null(case$level)) 95 else case$level
  fit <- rma(case$yi, case$vi, method = method, test = test, level = level, control = control(case))
  prediction <- if (fit$k < 3) list(pi.lb = NA, pi.ub = NA) else predict(fit, pi.type = "riley")
  # With a t test, metafor's own prediction interval takes k - 1 degrees of freedom.
  prediction_k1 <- if (fit$k < 2 || test == "z") list(pi.lb = NA, pi.ub = NA) else predict(fit)
  loo <- if (fit$k < 3) list(estimate = NA, se = NA, tau2 = NA, Q = NA, I2 = NA) else leave1out(fit)
  cumulated <- if (fit$k < 2) list(estimate = NA, se = NA, tau2 = NA) else cumul(fit)
  object(list(
    estimator = paste0('"', method, '"'), test = paste0('"', test, '"'),
    effect = number(fit$beta), se = number(fit$se), ci_low = number(fit$ci.lb), ci_high = number(fit$ci.ub),
    p_value = number(fit$pval), tau2 = number(fit$tau2), tau2_ci = vector(tau2_ci(fit, case)),
    q = number(fit$QE), q_p_value = number(fit$QEp), i2 = number(fit$I2), h2 = number(fit$H2),
    prediction_interval = vector(c(prediction$pi.lb, prediction$pi.ub)), weights = vector(weights(fit) / 100),
    prediction_interval_k1 = vector(c(prediction_k1$pi.lb, prediction_k1$pi.ub)),
    leave_one_out = columns(loo, c("estimate", "se", "tau2", "Q", "I2")),
    cumulative = columns(cumulated, c("estimate", "se", "tau2"))
  ))
}

fit_case <- function(name) {
  case <- cases[[name]]
  level <- if (is.null(case$level)) 95 else case$level
  fixed <- rma(case$yi, case$vi, method = "FE", level = level)
  fits <- c()
  for (method in c("DL", "REML", "PM")) for (test in c("z", "knha", "adhoc")) {
    if (length(case$yi) > 1 || test == "z") fits <- c(fits, fit_one(case, method, test))
  }
  object(list(
    name = paste0('"', name, '"'), alpha = number(1 - level / 100), yi = vector(case$yi), vi = vector(case$vi),
    fixed = object(list(
      effect = number(fixed$beta), se = number(fixed$se), ci_low = number(fixed$ci.lb), ci_high = number(fixed$ci.ub),
      p_value = number(fixed$pval)
    )),
    fits = paste0("[\n  ", paste(fits, collapse = ",\n  "), "\n ]")
  ))
}

cat("[\n", paste(sapply(names(cases), fit_case), collapse = ",\n "), "\n]\n", sep = "")
