# Writes influence.json: what R's metafor says of the influence of each task, the reference of test_influence.py.
#
#   Rscript influence.R > influence.json        (Debian: r-cran-metafor; made with metafor 3.8-1)
#
# influence() computes the diagnostics, baujat() the coordinates of the plot (drawn into no file), leave1out() the
# summary without each task. metafor's tolerances are set to the precision of a double, as in metafor.R.

suppressPackageStartupMessages(library(metafor))
pdf(NULL)

cases <- list(
  seven = list(
    yi = c(0.1847, 0.0089, 0.0071, 0.0310, 0.1221, 0.0255, 0.0292),
    vi = c(0.0424, 0.0026, 0.0052, 0.0064, 0.0109, 0.0166, 0.0106)^2
  ),
  homogeneous = list(yi = c(0.0301, 0.0312, 0.0289, 0.0305, 0.0298), vi = c(0.0004, 0.0002, 0.0009, 0.0001, 0.0003)),
  three = list(yi = c(-0.04, 0.02, 0.09), vi = c(0.0003, 0.0002, 0.0005)),
  outlier = list(yi = c(0.1, 0.12, 0.09, 0.11, 0.9, 0.1), vi = c(0.01, 0.012, 0.009, 0.02, 0.008, 0.011)),
  ten = list(yi = 0.02 + 0.05 * sin(1:10 * 1.7), vi = (0.006 + 0.02 * abs(cos(1:10 * 2.3)))^2)
)

vector <- function(x) paste0("[", paste(sprintf("%.17g", x), collapse = ", "), "]")
object <- function(x) paste0("{", paste0('"', names(x), '": ', unlist(x), collapse = ", "), "}")

fit_one <- function(case, method, test) {
  scale <- min(case$vi) + rma(case$yi, case$vi, method = "DL")$tau2
  control <- list(tol = 1e-16 * scale, threshold = 1e-13 * scale, maxiter = 100000)
  fit <- rma(case$yi, case$vi, method = method, test = test, control = control)
  found <- influence(fit)
  plotted <- baujat(fit)
  loo <- leave1out(fit)
  object(list(
    estimator = paste0('"', method, '"'), test = paste0('"', test, '"'),
    rstudent = vector(found$inf$rstudent), dffits = vector(found$inf$dffits), dfbetas = vector(found$dfbs$intrcpt),
    cooks_distance = vector(found$inf$cook.d), covariance_ratio = vector(found$inf$cov.r), hat = vector(found$inf$hat),
    tau2 = vector(found$inf$tau2.del), q = vector(found$inf$QE.del), influential = vector(as.numeric(found$is.infl)),
    baujat_x = vector(plotted$x), baujat_y = vector(plotted$y), effect = vector(loo$estimate),
    ci_low = vector(loo$ci.lb), ci_high = vector(loo$ci.ub)
  ))
}

fit_case <- function(name) {
  case <- cases[[name]]
  fits <- c()
  for (method in c("DL", "REML")) for (test in c("z", "knha", "adhoc")) fits <- c(fits, fit_one(case, method, test))
  object(list(
    name = paste0('"', name, '"'), yi = vector(case$yi), vi = vector(case$vi),
    fits = paste0("[\n  ", paste(fits, collapse = ",\n  "), "\n ]")
  ))
}

cat("[\n", paste(sapply(names(cases), fit_case), collapse = ",\n "), "\n]\n", sep = "")
