# Writes rma_mv_moderators.json: meta-regressions of dependent effects by R's metafor (rma.mv with V and mods), and the
# influence of each task on their mean, the reference of test_dependent_moderators.py and test_dependent_influence.py.
#
#   Rscript rma_mv_moderators.R > rma_mv_moderators.json      (Debian: r-cran-metafor; made with 3.8-1)
#
# rma.mv stops at an optimiser's tolerance, which is set as low as it goes: components have about seven digits.

suppressPackageStartupMessages(library(metafor))

number <- function(x) ifelse(is.na(x) | is.infinite(x), "null", sprintf("%.17g", x))
vector <- function(x) paste0("[", paste(number(x), collapse = ", "), "]")
matrix_rows <- function(m) paste0("[", paste(apply(m, 1, vector), collapse = ", "), "]")
object <- function(x) paste0("{", paste0('"', names(x), '": ', unlist(x), collapse = ", "), "}")

schools <- dat.konstantopoulos2011
correlated <- function(sd, rho) diag(sd) %*% (rho + diag(1 - rho, length(sd))) %*% diag(sd)
blocks <- function(...) as.matrix(bldiag(list(...)))

cases <- list(
  konstantopoulos2011 = list(
    yi = schools$yi, V = diag(schools$vi), collection = as.integer(factor(schools$district)),
    mods = cbind(year = schools$year)
  ),
  one_corpus = list(
    yi = c(0.05, 0.09, 0.01, 0.12, 0.10), V = correlated(c(0.02, 0.03, 0.025, 0.04, 0.02), 0.5), collection = 1:5,
    mods = cbind(x = c(1.5, 2, 0.5, 4, 3))
  ),
  two_moderators = list(
    yi = c(0.02, 0.05, 0.11, 0.14, -0.03, 0.06, 0.00, 0.08, 0.12),
    V = blocks(correlated(c(0.02, 0.03), 0.7), correlated(c(0.025, 0.02, 0.03), 0.4), matrix(0.0009),
               correlated(c(0.02, 0.02, 0.01), 0.3)),
    collection = 1:9, mods = cbind(a = c(0, 1, 0, 1, 0, 1, 1, 0, 1), b = c(3.1, 2.2, 4.5, 5.1, 1.7, 2.9, 2.0, 3.3, 4.8))
  ),
  corpora = list(
    yi = c(0.02, 0.05, 0.11, 0.14, -0.03, 0.06, 0.00, 0.08),
    V = blocks(correlated(c(0.02, 0.03), 0.7), correlated(c(0.025, 0.02, 0.03), 0.4), matrix(0.0009), correlated(c(0.02, 0.02), 0.3)),
    collection = c(1, 1, 2, 2, 2, 3, 4, 4), mods = cbind(a = c(0, 1, 0, 1, 0, 1, 0, 1))
  ),
  pairs_only = list(
    yi = c(0.41, 0.35, -0.12, -0.02, 0.2, 0.31, 0.05, 0.02, 0.22, 0.1),
    V = blocks(correlated(c(0.08, 0.05), 0.5), correlated(c(0.06, 0.06), 0.2), correlated(c(0.1, 0.05), 0.6), correlated(c(0.04, 0.07), 0.1), correlated(c(0.05, 0.05), 0.4)),
    collection = rep(1:5, each = 2), mods = cbind(x = c(5, 4.5, 1, 1.2, 3, 3.5, 2, 1, 3, 2))
  )
)

# The lowest tolerance at which the optimiser says that it is done.
mv <- function(yi, ...) {
  for (tolerance in 10^-(16:8)) {
    control <- list(optimizer = "optim", optmethod = "Nelder-Mead", reltol = tolerance, maxit = 10000)
    fit <- tryCatch(suppressWarnings(do.call(rma.mv, list(yi = yi, ..., control = control))), error = function(e) NULL)
    if (!is.null(fit)) return(fit)
  }
  stop("no tolerance will do")
}

fit_case <- function(name) {
  case <- cases[[name]]
  data <- data.frame(yi = case$yi, collection = case$collection, task = seq_along(case$yi))
  three <- any(duplicated(case$collection))
  random <- if (three) ~ 1 | collection/task else ~ 1 | task
  fit <- mv(data$yi, V = case$V, mods = case$mods, random = random, data = data)
  alone <- mv(data$yi, V = case$V, random = random, data = data)
  left <- function(i) {  # the mean of all tasks but one, its own components
    kept <- data[-i, ]
    mv(kept$yi, V = case$V[-i, -i], random = random, data = kept)
  }
  # With many tasks cooks.distance(reestimate = TRUE) takes a minute a case; refits of some tasks are as good.
  tasks <- if (nrow(data) > 12) c(1, 20, 56) else seq_len(nrow(data))
  refits <- lapply(tasks, left)
  effects <- sapply(refits, function(refit) refit$beta)
  full <- lapply(refits, function(refit) {  # all tasks, with the components that are left without one
    rma.mv(yi, case$V, random = random, data = data, sigma2 = refit$sigma2)
  })
  object(list(
    name = paste0('"', name, '"'), yi = vector(case$yi), v = matrix_rows(case$V), collection = vector(case$collection),
    mods = matrix_rows(case$mods), sigma2 = vector(rev(fit$sigma2)), coefficients = vector(fit$beta), se = vector(fit$se),
    ci_low = vector(fit$ci.lb), ci_high = vector(fit$ci.ub), p_values = vector(fit$pval),
    qe = number(fit$QE), qe_p_value = number(fit$QEp), qm = number(fit$QM), qm_p_value = number(fit$QMp),
    log_likelihood = number(fit$fit.stats["ll", "REML"]),
    tasks = vector(tasks), effect_without = vector(effects), se_without = vector(sapply(refits, function(refit) refit$se)),
    cooks_distance = vector((c(alone$beta) - effects)^2 / c(alone$vb)),
    metafor_cooks_distance = if (nrow(data) > 12) "null" else vector(cooks.distance(alone, reestimate = TRUE)),
    dfbetas = vector((c(alone$beta) - effects) / sapply(full, function(fit) fit$se)),
    metafor_dfbetas = if (nrow(data) > 12) "null" else vector(dfbetas(alone, reestimate = TRUE)$intrcpt),
    metafor_rstudent = if (nrow(data) > 12) "null" else vector(rstudent(alone, reestimate = TRUE)$z)
  ))
}

cat("[\n", paste(sapply(names(cases), fit_case), collapse = ",\n "), "\n]\n", sep = "")
