# Writes multiple.json: what R computes for many systems at once, the reference of test_multiple.py.
#
#   Rscript multiple.R > multiple.json      (Debian: r-cran-multcomp, r-cran-multcompview; multcomp 1.4-22, multcompView 0.1-8)
#
# All pairs and all against one, in the two-way model value ~ query + system of one task. glht's probabilities are those of
# the multivariate t; its Genz-Bretz integration is random, so its tolerance is set to 1e-5 and the seed is fixed. Tukey's
# p by ptukey, which is exact, stands beside it. Letters are those of multcompView for matrices of pairs that differ significantly.

suppressPackageStartupMessages({library(multcomp); library(multcompView)})
set.seed(12)

number <- function(x) ifelse(is.finite(x), sprintf("%.17g", x), "null")
vector <- function(x) paste0("[", paste(number(x), collapse = ", "), "]")
rows <- function(m) paste0("[", paste(apply(m, 1, vector), collapse = ", "), "]")
object <- function(x) paste0("{", paste0('"', names(x), '": ', unlist(x), collapse = ", "), "}")
texts <- function(x) paste0('["', paste(x, collapse = '", "'), '"]')
list_of <- function(x) paste0("[", paste(unlist(x), collapse = ",\n"), "]")

# A table of queries by systems: a query's difficulty, a system's level, and normal noise.
table_of <- function(n, levels, noise) {
  values <- outer(rnorm(n, 0.4, 0.2), levels, "+")
  values + matrix(rnorm(length(values), 0, noise), n)
}

tests <- function(values) {
  n <- nrow(values); k <- ncol(values)
  long <- data.frame(value = as.vector(values), query = factor(rep(1:n, k)), system = factor(rep(1:k, each = n)))
  fit <- aov(value ~ query + system, long)
  tukey <- summary(glht(fit, linfct = mcp(system = "Tukey")), test = adjusted("single-step", maxpts = 200000, abseps = 1e-5))$test
  dunnett <- summary(glht(fit, linfct = mcp(system = "Dunnett")), test = adjusted("single-step", maxpts = 200000, abseps = 1e-5))$test
  exact <- TukeyHSD(fit, "system")$system
  object(list(
    values = rows(values), tukey_estimate = vector(tukey$coefficients), tukey_p = vector(tukey$pvalues),
    tukey_exact = vector(exact[, "p adj"]), dunnett_estimate = vector(dunnett$coefficients), dunnett_p = vector(dunnett$pvalues)
  ))
}

# Random sets of pairs that differ significantly, in the order of the systems; letters begin with the first system.
letters_of <- function(k, share) {
  names <- paste0("s", 1:k)
  apart <- matrix(FALSE, k, k, dimnames = list(names, names))
  pairs <- t(combn(k, 2))
  told <- runif(nrow(pairs)) < share
  if (share > 1) told <- abs(pairs[, 1] - pairs[, 2]) >= share  # as a critical difference makes them
  apart[pairs[told, , drop = FALSE]] <- TRUE
  apart <- apart | t(apart)
  pairs <- pairs[told, , drop = FALSE]
  object(list(
    systems = k, significant = paste0("[", paste(sprintf("[%d, %d]", pairs[, 1] - 1, pairs[, 2] - 1), collapse = ", "), "]"),
    letters = texts(multcompLetters(apart)$Letters)
  ))
}

cases <- list(
  tests(table_of(40, c(0, 0.02, 0.05, 0.12), 0.1)),
  tests(table_of(12, c(0, 0.1, 0.05), 0.15)),
  tests(table_of(100, c(0, 0, 0.01, 0.03, 0.05), 0.12)),
  tests(table_of(25, c(0, 0.08), 0.2))
)
shapes <- list(c(3, 0.5), c(4, 0), c(4, 1), c(5, 2), c(6, 0.3), c(6, 3), c(7, 0.5), c(8, 0.2), c(9, 4), c(10, 0.4), c(12, 0.3), c(12, 0.6))
letters <- lapply(shapes, function(x) letters_of(x[1], x[2]))
cat(object(list(cases = list_of(cases), letters = list_of(letters))), "\n")
