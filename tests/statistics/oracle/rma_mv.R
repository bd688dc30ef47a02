# Writes rma_mv.json: dependent effects combined by R's metafor (rma.mv) and their robust variance by clubSandwich, the
# reference of test_gls.py.
#
#   Rscript rma_mv.R > rma_mv.json      (Debian: r-cran-metafor, r-cran-clubsandwich; made with 3.8-1 and 0.5.8)
#
# rma.mv stops at an optimiser's tolerance, which is set as low as it goes: components have about seven digits.

suppressPackageStartupMessages({ library(metafor); library(clubSandwich) })

number <- function(x) ifelse(is.na(x) | is.infinite(x), "null", sprintf("%.17g", x))
vector <- function(x) paste0("[", paste(number(x), collapse = ", "), "]")
matrix_rows <- function(m) paste0("[", paste(apply(m, 1, vector), collapse = ", "), "]")
object <- function(x) paste0("{", paste0('"', names(x), '": ', unlist(x), collapse = ", "), "}")

schools <- dat.konstantopoulos2011
correlated <- function(sd, rho) diag(sd) %*% (rho + diag(1 - rho, length(sd))) %*% diag(sd)
blocks <- function(...) as.matrix(bldiag(list(...)))

cases <- list(
  konstantopoulos2011 = list(yi = schools$yi, V = diag(schools$vi), collection = as.integer(factor(schools$district))),
  one_corpus = list(yi = c(0.05, 0.09, 0.01, 0.12), V = correlated(c(0.02, 0.03, 0.025, 0.04), 0.5), collection = 1:4),
  two_alike = list(yi = c(0.05, 0.09), V = correlated(c(0.02, 0.021), 0.8), collection = 1:2),
  homogeneous = list(yi = c(0.031, 0.030, 0.029), V = correlated(c(0.02, 0.03, 0.02), 0.3), collection = 1:3),
  corpora = list(
    yi = c(0.02, 0.05, 0.11, 0.14, -0.03, 0.06, 0.00, 0.08),
    V = blocks(correlated(c(0.02, 0.03), 0.7), correlated(c(0.025, 0.02, 0.03), 0.4), matrix(0.0009), correlated(c(0.02, 0.02), 0.3)),
    collection = c(1, 1, 2, 2, 2, 3, 4, 4)
  ),
  pairs_only = list(
    yi = c(0.41, 0.35, -0.12, -0.02, 0.2, 0.31, 0.05, 0.02, 0.22, 0.1),
    V = blocks(correlated(c(0.08, 0.05), 0.5), correlated(c(0.06, 0.06), 0.2), correlated(c(0.1, 0.05), 0.6), correlated(c(0.04, 0.07), 0.1), correlated(c(0.05, 0.05), 0.4)),
    collection = rep(1:5, each = 2)
  )
)

fit_case <- function(name) {
  case <- cases[[name]]
  data <- data.frame(yi = case$yi, collection = case$collection, task = seq_along(case$yi))
  three <- any(duplicated(case$collection))
  random <- if (three) ~ 1 | collection/task else ~ 1 | task
  fit <- rma.mv(yi, case$V, random = random, data = data, test = "t", dfs = "contain",
                control = list(optimizer = "optim", optmethod = "Nelder-Mead", reltol = 1e-16, maxit = 10000))
  robust_fit <- coef_test(fit, vcov = "CR2", cluster = data$collection, test = "Satterthwaite")
  fixed <- rma.mv(yi, case$V, data = data)
  object(list(
    name = paste0('"', name, '"'), yi = vector(case$yi), v = matrix_rows(case$V), collection = vector(case$collection),
    sigma2 = vector(rev(fit$sigma2)), effect = number(fit$beta), se = number(fit$se), df = number(fit$ddf),
    log_likelihood = number(fit$fit.stats["ll", "REML"]), q = number(fit$QE),
    weights = vector(weights(fit, type = "rowsum") / 100), fixed = number(fixed$beta), fixed_se = number(fixed$se),
    cr2_se = number(if (three) robust_fit$SE else NA), # collections must not correlate
    cr2_df = number(if (!three) NA else if (is.null(robust_fit$df_Satt)) robust_fit$df else robust_fit$df_Satt)
  ))
}

# Independent tasks, robust by collection: rma.uni with the same CR2.
uni <- function() {
  collection <- c(1, 1, 2, 3, 3, 3, 4)
  yi <- c(0.1847, 0.0089, 0.0071, 0.0310, 0.1221, 0.0255, 0.0292)
  vi <- c(0.0424, 0.0026, 0.0052, 0.0064, 0.0109, 0.0166, 0.0106)^2
  scale <- min(vi)
  fit <- rma(yi, vi, method = "REML", control = list(tol = 1e-16, threshold = 1e-13 * scale, maxiter = 100000))
  result <- coef_test(fit, vcov = "CR2", cluster = collection, test = "Satterthwaite")
  object(list(yi = vector(yi), vi = vector(vi), collection = vector(collection), tau2 = number(fit$tau2),
    cr2_se = number(result$SE), cr2_df = number(if (is.null(result$df_Satt)) result$df else result$df_Satt),
    each_se = number(robust(fit, cluster = 1:7, clubSandwich = TRUE)$se),
    each_df = number(robust(fit, cluster = 1:7, clubSandwich = TRUE)$dfs)))
}

# One task whose queries are clustered: the mean of d with a robust variance.
queries <- function(name, d, cluster) {
  result <- coef_test(lm(d ~ 1), vcov = "CR2", cluster = cluster, test = "Satterthwaite")
  object(list(name = paste0('"', name, '"'), d = vector(d), cluster = vector(cluster), se = number(result$SE),
    df = number(if (is.null(result$df_Satt)) result$df else result$df_Satt)))
}
set.seed(1)
sizes <- c(1, 1, 2, 3, 5, 8, 20)
clusters <- c(
  queries("equal", round(rnorm(24) + rep(rnorm(8), each = 3), 4), rep(1:8, each = 3)),
  queries("uneven", round(rnorm(40) + rep(rnorm(7), sizes), 4), rep(1:7, sizes))
)

cat('{"cases": [\n ', paste(sapply(names(cases), fit_case), collapse = ",\n "), '],\n "independent": ', uni(), ',\n "clusters": [', paste(clusters, collapse = ",\n  "), "]}\n", sep = "")
