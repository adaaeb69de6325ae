#!/usr/bin/env python3
"""Golden data for cotan::dlm: tests/golden/dlm.npz.

Two sources that know nothing of cotan: the textbook recursions in plain NumPy, written with loops and inverses, and
statsmodels' UnobservedComponents. Usage: python3 tools/golden/dlm.py (needs numpy and statsmodels).
"""
import pathlib

import numpy as np
from statsmodels.tsa.statespace.structural import UnobservedComponents

out = {}


def kalman(y, G, F, W, V, x0, C0):
    """Filter and Rauch-Tung-Striebel smoother; matrices are functions of the step, y is [n, p] with NaN."""
    n, p = y.shape
    m = len(x0)
    x, C, lik = x0, C0, 0.0
    xf, Cf, xu, Cu, vs, Ss = [], [], [], [], np.zeros((n, p)), np.zeros((n, p, p))
    for t in range(n):
        xf.append(x)
        Cf.append(C)
        seen = ~np.isnan(y[t])
        Ft, Vt = F(t)[seen], V(t)[np.ix_(seen, seen)]
        v = y[t][seen] - Ft @ x
        S = Ft @ C @ Ft.T + Vt
        vs[t][seen] = v
        Ss[t] = F(t) @ C @ F(t).T + V(t)
        if seen.any():
            K = C @ Ft.T @ np.linalg.inv(S)
            lik += v @ np.linalg.inv(S) @ v + np.linalg.slogdet(S)[1]
            x = x + K @ v
            A = np.eye(m) - K @ Ft
            C = A @ C @ A.T + K @ Vt @ K.T
        xu.append(x)
        Cu.append(C)
        x = G(t) @ x
        C = G(t) @ C @ G(t).T + W(t)
        C = (C + C.T) / 2
    xs, Cs = [xu[-1]], [Cu[-1]]
    for t in reversed(range(n - 1)):
        E = Cu[t] @ G(t).T @ np.linalg.inv(Cf[t + 1])
        xs.insert(0, xu[t] + E @ (xs[0] - xf[t + 1]))
        Cs.insert(0, Cu[t] + E @ (Cs[0] - Cf[t + 1]) @ E.T)
    return {'xf': np.array(xf), 'Cf': np.array(Cf), 'v': vs, 'S': Ss, 'lik': np.array(lik), 'x': np.array(xs),
            'C': np.array(Cs)}


def save(name, **arrays):
    for key, a in arrays.items():
        out[f'{name}/{key}'] = np.asarray(a, dtype=np.float64)


def constant(a):
    return lambda t: np.asarray(a, float)


def series(name, rng, n, gaps=()):
    t = np.arange(n)
    y = 20 + 0.1 * t + 3 * np.sin(2 * np.pi * t / 12) + np.cumsum(rng.normal(size=n)) + rng.normal(size=n)
    y[list(gaps)] = np.nan
    return y


def recursions():
    rng = np.random.default_rng(1)
    # Per-step matrices, two observed series, parts of them missing.
    n, m, p = 40, 3, 2
    G = np.array([np.eye(m) * 0.9 + 0.1 * rng.normal(size=(m, m)) / 2 for _ in range(n)])
    F = rng.normal(size=(n, p, m))
    root = rng.normal(size=(n, m, m)) * 0.3
    W = root @ root.transpose(0, 2, 1)
    root = rng.normal(size=(n, p, p))
    V = root @ root.transpose(0, 2, 1) + 0.1 * np.eye(p)
    y = rng.normal(size=(n, p)) * 2
    y[5] = np.nan
    y[7, 0] = y[11, 1] = y[12, 0] = np.nan
    x0, C0 = rng.normal(size=m), np.diag([2.0, 1.0, 3.0])
    save('several', G=G, F=F, W=W, V=V, x0=x0, C0=C0, y=y,
         **kalman(y, lambda t: G[t], lambda t: F[t], lambda t: W[t], lambda t: V[t], x0, C0))

    # Trends of order 2, a spline, regressors, an observation error that changes, gaps.
    n = 50
    y = series('blocks', rng, n, (3, 4, 20))
    X = rng.normal(size=(n, 2))
    y += X @ [1.5, -0.7]
    scale = 1 + 0.5 * (np.arange(n) % 3)

    def prior(y, m):
        mean = np.nanmean(y[:12])
        return np.eye(m)[0] * mean, np.eye(m) * (0.5 * mean) ** 2

    x0, C0 = prior(y, 3)
    save('order2', y=y, **kalman(y[:, None], constant([[1, 1, 0], [0, 1, 1], [0, 0, 1]]), constant([[1, 0, 0]]),
                                 constant(np.diag([0.5, 0.1, 0.02]) ** 2), constant([[0.8 ** 2]]), x0, C0))
    x0, C0 = prior(y, 2)
    save('spline', y=y, **kalman(y[:, None], constant([[1, 1], [0, 1]]), constant([[1, 0]]),
                                 constant(0.3 ** 2 * np.array([[1 / 3, 1 / 2], [1 / 2, 1]])), constant([[1.1 ** 2]]), x0, C0))
    x0, C0 = prior(y, 4)
    Gr = np.eye(4)
    Gr[0, 1] = 1
    save('regression', y=y, X=X, scale=scale,
         **kalman(y[:, None], constant(Gr), lambda t: np.array([[1, 0, *X[t]]]), constant(np.diag([0.6, 0.1, 0, 0]) ** 2),
                  lambda t: np.array([[(0.9 * scale[t]) ** 2]]), x0, C0))
    # A whole fit in two passes: trend, season, autoregression; the second pass starts from the first smoothed state.
    yf = series('fit', rng, 60, (2, 33))
    m = 2 + 3 + 1
    Gf, Ff = np.zeros((m, m)), np.zeros((1, m))
    Gf[:2, :2] = [[1, 1], [0, 1]]
    Gf[2:5, 2:5] = [[-1, -1, -1], [1, 0, 0], [0, 1, 0]]
    Gf[5, 5] = 0.6
    Ff[0, [0, 2, 5]] = 1
    Wf = np.diag([0.5, 0.1, 0.3, 0, 0, 0.7]) ** 2
    sd = 0.9
    mean = np.nanmean(yf[:4])
    once = kalman(yf[:, None], constant(Gf), constant(Ff), constant(Wf), constant([[sd**2]]), np.eye(m)[0] * mean,
                  np.eye(m) * (0.5 * mean) ** 2)
    x0, C0 = once['x'][0], 100 * once['C'][0]
    k = kalman(yf[:, None], constant(Gf), constant(Ff), constant(Wf), constant([[sd**2]]), x0, C0)
    seen = ~np.isnan(yf)
    yhat = k['xf'] @ Ff[0]
    resid0 = yf - yhat
    resid2 = resid0 / np.sqrt(k['S'][:, 0, 0])
    save('fit', y=yf, x0=x0, C0=C0, x=k['x'], C=k['C'], xf=k['xf'], Cf=k['Cf'], Cp=k['S'], yhat=yhat, lik=k['lik'],
         lik_full=k['lik'] + seen.sum() * np.log(2 * np.pi), xstd=np.sqrt(np.einsum('tii->ti', k['C'])),
         level=k['x'] @ Ff[0], ystd=np.sqrt(np.einsum('i,tij,j->t', Ff[0], k['C'], Ff[0]) + sd**2), resid0=resid0,
         resid=resid0 / sd, resid2=resid2, nobs=seen.sum(), ssy=np.nansum(resid0**2), s2=np.nanmean((resid0 / sd) ** 2),
         mse=np.nanmean(resid2**2), mape=np.nanmean(np.abs(resid2) / yf))

    # Uneven steps, fractions included: continuous time.
    times = np.cumsum(rng.choice([0.5, 1.0, 1.5, 3.0], size=n))
    d = np.append(np.diff(times), 1.0)
    s1, s2, ar, phi, sp, period = 0.7, 0.2, 0.5, 0.8, 0.15, 7.5

    def Gt(t):
        G = np.zeros((5, 5))
        G[:2, :2] = [[1, d[t]], [0, 1]]
        a = 2 * np.pi / period * d[t]
        G[2:4, 2:4] = [[np.cos(a), np.sin(a)], [-np.sin(a), np.cos(a)]]
        G[4, 4] = phi ** d[t]
        return G

    def Wt(t):
        W = np.zeros((5, 5))
        k = d[t]
        both = s2 ** 2 * k * (k - 1) / 2
        W[:2, :2] = [[max(s1 ** 2 * k + s2 ** 2 * k * (k - 1) * (2 * k - 1) / 6, s2 ** 2 * k * (k - 1) ** 2 / 4), both],
                     [both, s2 ** 2 * k]]
        W[2, 2] = W[3, 3] = sp ** 2 * k
        W[4, 4] = ar ** 2 * (1 - phi ** (2 * k)) / (1 - phi ** 2)
        return W

    x0, C0 = prior(y, 5)
    x0 = np.eye(5)[0] * np.nanmean(y[:8])  # a season of 7.5 steps
    C0 = np.eye(5) * (0.5 * x0[0]) ** 2
    save('uneven', y=y, times=times, **kalman(y[:, None], Gt, constant([[1, 0, 1, 0, 1]]), Wt, constant([[1.0]]), x0, C0))


def agreement():
    """statsmodels under the same first state, sqrt of its variances as our standard deviations."""
    rng = np.random.default_rng(2)
    n = 80
    y = series('agreement', rng, n, (10, 11, 30))
    X = rng.normal(size=(n, 1))
    models = {
        'local_level': (dict(level='llevel'), [1.3, 0.4]),
        'local_linear_trend': (dict(level='lltrend'), [1.3, 0.4, 0.02]),
        'seasonal': (dict(level='lltrend', seasonal=12), [1.3, 0.4, 0.02, 0.1]),
        'harmonics': (dict(level='llevel', freq_seasonal=[{'period': 12, 'harmonics': 2}]), [1.3, 0.4, 0.05]),
        'autoregression': (dict(level='llevel', autoregressive=1), [1.3, 0.4, 0.3, 0.7]),
        'regression': (dict(level='llevel', exog=X, mle_regression=False), [1.3, 0.4]),
    }
    for name, (spec, params) in models.items():
        model = UnobservedComponents(y, **spec)
        m = model.k_states
        x0 = np.zeros(m)
        x0[0] = 20
        C0 = np.eye(m) * 50
        model.ssm.initialize_known(x0, C0)
        model.ssm.loglikelihood_burn = 0
        model.loglikelihood_burn = 0
        result = model.ssm
        model.update(np.array(params))
        smoothed = model.ssm.smooth()
        save(f'statsmodels/{name}', y=y, X=X, params=params, x0=x0, C0=C0, loglik=smoothed.llf_obs.sum(),
             x=smoothed.smoothed_state.T, C=np.moveaxis(smoothed.smoothed_state_cov, -1, 0))
        print(name, 'states', m, model.param_names, 'log L', smoothed.llf_obs.sum())


def diffuse():
    """statsmodels with an exact diffuse start: likelihood, criteria, one-step predictions, smoothed states."""
    rng = np.random.default_rng(3)
    n = 90
    y = series('diffuse', rng, n)
    gaps = y.copy()
    gaps[[0, 2, 3, 40, 41, 89]] = np.nan
    X = np.column_stack([rng.normal(size=n), 50 + 30 * rng.normal(size=n)])
    models = {
        'local_level': (y, dict(level='llevel'), [1.3, 0.4]),
        'local_linear_trend': (y, dict(level='lltrend'), [1.3, 0.4, 0.02]),
        'smooth_trend': (y, dict(level='strend'), [1.3, 0.02]),
        'seasonal': (y, dict(level='llevel', seasonal=12), [1.3, 0.4, 0.1]),
        'harmonics': (y, dict(level='lltrend', freq_seasonal=[{'period': 12, 'harmonics': 3}]), [1.3, 0.4, 0.02, 0.05]),
        'autoregression': (y, dict(level='lltrend', autoregressive=2), [1.3, 0.4, 0.02, 0.3, 0.7, -0.2]),
        'regression': (y, dict(level='lltrend', exog=X, mle_regression=False), [1.3, 0.4, 0.02]),
        'gaps': (gaps, dict(level='lltrend', seasonal=4, autoregressive=1), [1.3, 0.4, 0.02, 0.1, 0.3, 0.6]),
    }
    for name, (values, spec, params) in models.items():
        model = UnobservedComponents(values, use_exact_diffuse=True, **spec)
        model.ssm.tolerance = 0  # no covariance is taken for the limit before it is
        result = model.smooth(np.array(params))
        k = result.filter_results
        d = k.nobs_diffuse
        assert result.loglikelihood_burn == 0
        predicted = k.forecasts[0].copy()
        predicted_sd = np.sqrt(k.forecasts_error_cov[0, 0])
        # As long as a prediction has an infinite variance there is none.
        unknown = np.zeros(n, bool)
        unknown[:d] = k.forecasts_error_diffuse_cov[0, 0, :d] > 1e-8
        C = np.moveaxis(result.smoothed_state_cov, -1, 0)
        save(f'diffuse/{name}', y=values, X=X, params=params, loglik=result.llf, aic=result.aic, bic=result.bic,
             predicted=predicted, predicted_sd=predicted_sd, unknown=unknown, x=result.smoothed_state.T,
             xstd=np.sqrt(np.maximum(np.einsum('tii->ti', C), 0)))
        print(name, 'log L', result.llf, 'AIC', result.aic, 'BIC', result.bic, 'diffuse steps', d)


if __name__ == '__main__':
    recursions()
    agreement()
    diffuse()
    path = pathlib.Path(__file__).resolve().parents[2] / 'tests' / 'golden' / 'dlm.npz'
    np.savez_compressed(path, **out)
    print(path.name, path.stat().st_size, 'bytes,', len(out), 'arrays')
