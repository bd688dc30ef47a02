# Writes power.json: power and sample sizes by R, the reference of test_precision.py.
#
#   Rscript power.R > power.json        (base R alone; made with R 4.2)
#
# paired: power.t.test, with the tolerance of a double. summary: Hedges and Pigott (2001), random effects, in their own
# words: lambda = mu / sqrt((v + tau2) / k), power = 1 - Phi(c - lambda) + Phi(-c - lambda). topics: Sakai (2016), Topic
# set size design, Information Retrieval 19(3): the smallest n whose paired t-test has the power for a difference of
# `delta` standard deviations, searched from Nagata's approximation; and the smallest n whose expected 95% interval is
# no wider than `width` standard deviations, 2 t E[s] / sqrt(n).

paired <- list()
for (n in c(3, 10, 50, 300)) for (sd in c(0.25, 1)) for (level in c(0.05, 0.01)) {
  power <- power.t.test(n = n, delta = 0.4 * sd, sd = sd, sig.level = level, type = "paired", strict = TRUE)$power
  # R's noncentral t is exact up to a noncentrality of 37.62, which n = 3 at 0.01 stays below
  found <- power.t.test(n = n, delta = NULL, power = 0.8, sd = sd, sig.level = level, type = "paired",
                        strict = TRUE, tol = 1e-14)$delta
  paired[[length(paired) + 1]] <- list(n = n, sd = sd, alpha = level, delta = 0.4 * sd, power = power, detectable = found)
}

summary <- list()
for (k in c(4, 10, 30)) for (tau2 in c(0, 0.004)) for (n in c(20, 200)) {
  lambda <- 0.05 / sqrt((0.0625 / n + tau2) / k)
  c <- qnorm(0.975)
  summary[[length(summary) + 1]] <- list(k = k, tau2 = tau2, n = n, mu = 0.05, query = 0.0625,
    power = 1 - pnorm(c - lambda) + pnorm(-c - lambda))
}

achieved <- function(n, delta, alpha) {
  critical <- qt(1 - alpha / 2, n - 1)
  pt(critical, n - 1, sqrt(n) * delta, lower.tail = FALSE) + pt(-critical, n - 1, sqrt(n) * delta)
}
topics <- list()
for (alpha in c(0.01, 0.05)) for (beta in c(0.1, 0.2, 0.5)) for (delta in c(0.2, 0.5, 1)) {
  n <- max(2, floor(((qnorm(1 - alpha / 2) + qnorm(1 - beta)) / delta)^2 + qnorm(1 - alpha / 2)^2 / 2) - 5)
  while (achieved(n, delta, alpha) < 1 - beta) n <- n + 1
  while (n > 2 && achieved(n - 1, delta, alpha) >= 1 - beta) n <- n - 1
  topics[[length(topics) + 1]] <- list(alpha = alpha, power = 1 - beta, delta = delta, n = n)
}

width <- function(n) 2 * qt(0.975, n - 1) * sqrt(2 / (n - 1)) * exp(lgamma(n / 2) - lgamma((n - 1) / 2)) / sqrt(n)
intervals <- list()
for (wanted in c(0.2, 0.5, 1, 2)) {
  n <- 2
  while (width(n) > wanted) n <- n + 1
  intervals[[length(intervals) + 1]] <- list(width = wanted, n = n)
}

json <- function(x) {
  if (is.null(names(x)) && is.list(x)) return(paste0("[", paste(vapply(x, json, ""), collapse = ",\n  "), "]"))
  if (is.list(x)) return(paste0("{", paste0("\"", names(x), "\": ", vapply(x, json, ""), collapse = ", "), "}"))
  sprintf("%.17g", x)
}
cat(json(list(paired = paired, summary = summary, topics = topics, intervals = intervals)), "\n")
