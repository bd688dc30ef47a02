"""Terrier's weighting models, with its definitions and defaults: each query term's contribution to a document's score.

A document's score is the sum over the query's distinct terms that it contains. tf is the term's frequency in the
document, dl the document's length, kf the key frequency, df and cf the term's document and collection frequency, N the
number of documents, T the number of tokens, avg = T/N; lg is the logarithm to base 2. Source of the definitions: the
classes of org.terrier.matching.models in terrier-core 5 (Macdonald et al. 2012, From Puppy to Maturity). Lucene's
models of the same names differ: see docs/ranking.md. Reads and writes no files.
"""

from __future__ import annotations

import math

import numpy as np

from ranktrial.features.families import Matches, Parameter, of_terms

NAME = "weighting-models"
LG_E = math.log2(math.e)
NEARLY_ALL = 0.99999  # DPH's value of tf/dl for a document without other terms

# The parameters that a configuration may set. With k1 = 0, every TF_IDF would be 0.
K1, B, K3 = Parameter("k1", 0.001, 1000), Parameter("b", 0, 1), Parameter("k3", 0, 1000)
C = Parameter("c", 0.001, 1000)  # for a document of mean length, tfn = tf lg(1+c)
DOCUMENT_WEIGHT = Parameter("lambda", 0.001, 0.999, argument="document_weight")  # at 1, the odds are infinite
MU = Parameter("mu", 0.001, 1_000_000)  # in tokens


@of_terms("BM25", K1, B, K3)
def bm25(m: Matches, k1: float = 1.2, b: float = 0.75, k3: float = 8) -> np.ndarray:
    """lg((N-df+.5)/(df+.5)) (k1+1) tf/(K+tf) (k3+1) kf/(k3+kf), K = k1 ((1-b) + b dl/avg).

    Robertson and Walker (1999), Okapi/Keenbow at TREC-8. Negative for a term in more than half of the documents.
    """
    length = k1 * ((1 - b) + b * m.document_length / m.mean_length)
    idf = np.log2((m.documents - m.df + 0.5) / (m.df + 0.5))
    return idf * (k1 + 1) * m.tf / (length + m.tf) * (k3 + 1) * m.key_frequency / (k3 + m.key_frequency)


@of_terms("TF_IDF", K1, B)
def tf_idf(m: Matches, k1: float = 1.2, b: float = 0.75) -> np.ndarray:
    """kf k1 tf/(tf + k1 (1-b + b dl/avg)) lg(N/df + 1): Robertson's tf and Spärck Jones's idf."""
    tf = k1 * m.tf / (m.tf + k1 * (1 - b + b * m.document_length / m.mean_length))
    return m.key_frequency * tf * np.log2(m.documents / m.df + 1)


@of_terms("PL2", C)
def pl2(m: Matches, c: float = 1) -> np.ndarray:
    """kf/(tfn+1) (tfn lg(1/L) + L lg e + .5 lg(2 pi tfn) + tfn (lg tfn - lg e)), tfn = tf lg(1 + c avg/dl), L = cf/N.

    Amati (2003), Probability Models for Information Retrieval Based on Divergence from Randomness (thesis, Glasgow).
    """
    tfn = m.tf * np.log2(1 + c * m.mean_length / m.document_length)
    mean = m.cf / m.documents
    information = tfn * np.log2(1 / mean) + mean * LG_E + 0.5 * np.log2(2 * np.pi * tfn) + tfn * (np.log2(tfn) - LG_E)
    return m.key_frequency / (tfn + 1) * information


@of_terms("DPH")
def dph(m: Matches) -> np.ndarray:
    """kf norm (tf lg((tf avg/dl)(N/cf)) + .5 lg(2 pi tf (1-f))), norm = (1-f)^2/(tf+1), f = tf/dl (.99999 if tf >= dl).

    Amati et al. (2007), FUB, IASI-CNR and University of Tor Vergata at TREC 2007 Blog Track. It has no parameter.
    """
    share = np.where(m.tf < m.document_length, m.tf / m.document_length, NEARLY_ALL)
    norm = (1 - share) ** 2 / (m.tf + 1)
    expected = (m.tf * m.mean_length / m.document_length) * (m.documents / m.cf)
    information = m.tf * np.log2(expected) + 0.5 * np.log2(2 * np.pi * m.tf * (1 - share))
    return m.key_frequency * norm * information


def beyond_independence(m: Matches) -> tuple[np.ndarray, np.ndarray]:
    """e = cf dl/T, the tf expected under independence, and tf - e if it is positive, otherwise 0."""
    expected = m.cf * m.document_length / m.tokens
    return expected, np.maximum(m.tf - expected, 0)


@of_terms("DFIC")
def dfic(m: Matches) -> np.ndarray:
    """0 if tf <= e = cf dl/T, else kf lg((tf-e)^2/e + 1): divergence from independence by chi-square.

    Kocabas, Dinçer and Karaoğlan (2014), A nonparametric term weighting method, Information Retrieval 17(2).
    """
    expected, excess = beyond_independence(m)
    return m.key_frequency * np.log2(excess**2 / expected + 1)


@of_terms("DFIZ")
def dfiz(m: Matches) -> np.ndarray:
    """0 if tf <= e = cf dl/T, else kf lg((tf-e)/sqrt(e) + 1): divergence from independence, standardised.

    Kocabas, Dinçer and Karaoğlan (2014), A nonparametric term weighting method, Information Retrieval 17(2).
    """
    expected, excess = beyond_independence(m)
    return m.key_frequency * np.log2(excess / np.sqrt(expected) + 1)


@of_terms("Hiemstra_LM", DOCUMENT_WEIGHT)
def hiemstra_lm(m: Matches, document_weight: float = 0.15) -> np.ndarray:
    """kf lg(1 + lambda tf T/((1-lambda) cf dl)), where lambda = .15 is the weight of the document.

    Hiemstra (2001), Using Language Models for Information Retrieval (thesis, Twente).
    """
    odds = document_weight * m.tf * m.tokens / ((1 - document_weight) * m.cf * m.document_length)
    return m.key_frequency * np.log2(1 + odds)


@of_terms("DirichletLM", MU)
def dirichlet_lm(m: Matches, mu: float = 2500) -> np.ndarray:
    """lg(1 + tf/(mu cf/T)) + lg(mu/(dl+mu)): no kf, and the length term once per matched term; it may be negative.

    Zhai and Lafferty (2004), A study of smoothing methods for language models, TOIS 22(2).
    """
    return np.log2(1 + m.tf / (mu * (m.cf / m.tokens))) + np.log2(mu / (m.document_length + mu))


@of_terms("DFRee")
def dfree(m: Matches) -> np.ndarray:
    """kf norm (-tf lg(p T/cf) + (tf+1) lg(q T/cf) + .5 lg(q/p)), p = tf/dl, q = (tf+1)/(dl+1), norm = tf lg(q/p).

    Amati's parameter-free model, as in Terrier's class of this name.
    """
    prior, posterior = m.tf / m.document_length, (m.tf + 1) / (m.document_length + 1)
    rarity = m.tokens / m.cf
    gain = np.log2(posterior / prior)
    information = -m.tf * np.log2(prior * rarity) + (m.tf + 1) * np.log2(posterior * rarity) + 0.5 * gain
    return m.key_frequency * m.tf * gain * information


@of_terms("In_expB2", C)
def in_expb2(m: Matches, c: float = 1) -> np.ndarray:
    """kf tfn (cf+1)/(df (tfn+1)) lg((N+1)/(n+.5)), tfn = tf lg(1 + c avg/dl), n = N (1 - e^(-cf/N)).

    Amati and van Rijsbergen (2002), Probabilistic models of information retrieval, TOIS 20(4), with base 2.
    """
    tfn = m.tf * np.log2(1 + c * m.mean_length / m.document_length)
    holding = m.documents * (1 - np.exp(-np.asarray(m.cf / m.documents, dtype=np.longdouble)).astype(np.float64))
    bernoulli = (m.cf + 1) / (m.df * (tfn + 1))
    return m.key_frequency * tfn * bernoulli * np.log2((m.documents + 1) / (holding + 0.5))


@of_terms("LGD", C)
def lgd(m: Matches, c: float = 1) -> np.ndarray:
    """kf lg((r + tfn)/r), r = df/N, tfn = tf lg(1 + c avg/dl): the log-logistic model.

    Clinchant and Gaussier (2010), Information-based models for ad hoc IR, SIGIR.
    """
    tfn = m.tf * np.log2(1 + c * m.mean_length / m.document_length)
    share = m.df / m.documents
    return m.key_frequency * np.log2((share + tfn) / share)
