# Writes bayes.json: Bayesian random-effects meta-analyses by R's integrate, the reference of test_bayes.py.
#
#   Rscript bayes.R > bayes.json        (base R; names of cases compute these alone)
#
# The posterior of tau is integrated on pieces, so that integrate sees its peak; quantiles by uniroot. It follows the
# formulas with explicit matrices.

cases <- list(
  seven = list(y = c(0.1847, 0.0089, 0.0071, 0.0310, 0.1221, 0.0255, 0.0292),
               V = diag(c(0.0424, 0.0026, 0.0052, 0.0064, 0.0109, 0.0166, 0.0106)^2), scale = 0.1, alpha = 0.05),
  narrow = list(y = c(0.1847, 0.0089, 0.0071, 0.0310, 0.1221, 0.0255, 0.0292),
                V = diag(c(0.0424, 0.0026, 0.0052, 0.0064, 0.0109, 0.0166, 0.0106)^2), scale = 0.01, alpha = 0.1),
  agreeing = list(y = c(0.0200, 0.0201, 0.0202), V = diag(c(0.0383, 0.0380, 0.0385)^2), scale = 0.1, alpha = 0.05),
  standardised = list(y = c(0.42, 0.11, 0.31, -0.05), V = diag(c(0.021, 0.0011, 0.0034, 0.0027)), scale = 0.5, alpha = 0.05),
  two = list(y = c(0.02, 0.09), V = diag(c(0.0002, 0.0005)), scale = 0.1, alpha = 0.01),
  one = list(y = 0.05, V = matrix(0.0004), scale = 0.1, alpha = 0.05),
  large = list(y = c(12.1, 12.6, 11.9), V = diag(c(0.04, 0.09, 0.01)), scale = 0.5, alpha = 0.05),
  correlated = list(y = c(0.10, 0.04, 0.02), V = matrix(c(4, 1, 0.5, 1, 2, 0.7, 0.5, 0.7, 3), 3) * 1e-4, scale = 0.1, alpha = 0.05)
)

posterior <- function(case) {
  given <- function(tau) {
    W <- solve(case$V + tau^2 * diag(length(case$y)))
    v <- 1 / sum(W); m <- v * sum(W %*% case$y)
    r <- case$y - m
    c(m = m, v = v, log = 0.5 * (log(v) + determinant(W)$modulus - c(t(r) %*% W %*% r)) - tau^2 / (2 * case$scale^2))
  }
  grid <- c(0, exp(seq(log(case$scale * 1e-5), log(case$scale * 40), length.out = 400)))
  logs <- sapply(grid, function(tau) given(tau)["log"])
  top <- max(logs)
  pieces <- c(0, exp(seq(log(case$scale * 1e-3), log(max(grid[logs > top - 60]) * 1.1), length.out = 12)))
  density <- function(tau) sapply(tau, function(t) unname(exp(given(t)["log"] - top)))
  over <- function(f, from = 0, to = max(pieces)) {
    ends <- unique(c(from, pieces[pieces > from & pieces < to], to))
    sum(sapply(seq_len(length(ends) - 1), function(i) integrate(f, ends[i], ends[i + 1], rel.tol = 1e-11, abs.tol = 0)$value))
  }
  Z <- over(density)
  mean_of <- function(f) over(function(tau) sapply(tau, function(t) { g <- given(t); unname(exp(g["log"] - top) * f(g, t)) })) / Z
  quantile_of <- function(p, spread, range) uniroot(function(x)
    mean_of(function(g, t) pnorm(x, g["m"], sqrt(spread(g, t)))) - p, range, tol = 1e-11)$root
  effect <- mean_of(function(g, t) g["m"])
  sd <- sqrt(mean_of(function(g, t) g["v"] + (g["m"] - effect)^2))
  levels <- c(case$alpha / 2, 1 - case$alpha / 2)
  ci <- sapply(levels, quantile_of, function(g, t) g["v"], effect + c(-20, 20) * sd)
  new <- sapply(levels, quantile_of, function(g, t) g["v"] + t^2, effect + c(-60, 60) * (sd + case$scale))
  tau <- sapply(c(0.5, levels), function(p) uniroot(function(x) over(density, 0, x) / Z - p, c(1e-12, max(pieces)), tol = 1e-11)$root)
  list(effect = effect, sd = sd, ci = ci, p_above_0 = mean_of(function(g, t) pnorm(g["m"] / sqrt(g["v"]))),
       tau_median = tau[1], tau_ci = tau[2:3], prediction_interval = new)
}

numbers <- function(v) if (length(v) == 1) sprintf("%.15g", v) else paste0("[", paste(sprintf("%.15g", v), collapse = ", "), "]")
object <- function(x) paste0("{", paste0('"', names(x), '": ', x, collapse = ", "), "}")
one <- function(name) {
  case <- cases[[name]]
  rows <- paste0("[", paste(apply(case$V, 1, function(r) paste0("[", paste(sprintf("%.15g", r), collapse = ", "), "]")), collapse = ", "), "]")
  given <- c(name = paste0('"', name, '"'), y = paste0("[", paste(sprintf("%.15g", case$y), collapse = ", "), "]"), V = rows,
             tau_scale = numbers(case$scale), alpha = numbers(case$alpha))
  object(c(given, sapply(posterior(case), numbers)))
}
chosen <- commandArgs(trailingOnly = TRUE)
cat("[\n", paste(sapply(if (length(chosen)) chosen else names(cases), one), collapse = ",\n"), "\n]\n", sep = "")
