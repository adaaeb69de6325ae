"""statsmodels: UnobservedComponents, its filters in Cython."""

import platform
import warnings

import statsmodels
from statsmodels.tsa.statespace.structural import UnobservedComponents

import dlm_inputs as d
from worker import Case, serve, summarize

warnings.simplefilter("ignore")


def model_of(y):
    model = UnobservedComponents(y, level="lltrend")
    model.ssm.initialize_known(d.X0, d.C0)
    model.ssm.loglikelihood_burn = 0
    model.update([d.V[0, 0], d.W[0, 0], d.W[1, 1]])
    return model


def smooth(p):
    model = model_of(d.series(p))

    def run(calls):
        for _ in range(calls):
            model.ssm.smooth()

    def check():
        r = model.ssm.smooth()
        return summarize([r.smoothed_state.T, r.smoothed_state_cov.transpose(2, 0, 1)])

    return Case(run, check)


def maximum_likelihood(p):
    y = d.series(p)

    def run(calls):
        for _ in range(calls):
            UnobservedComponents(y, level="lltrend").fit(disp=False)

    return Case(run, lambda: [])  # another first state, so another likelihood


KINDS = {"dlm_smooth": smooth}
KINDS |= dict.fromkeys(("dlm_mle", "dlm_mle_again", "dlm_mle_errors"), maximum_likelihood)

if __name__ == "__main__":
    serve(
        {"statsmodels": statsmodels.__version__, "python": platform.python_version()},
        lambda p: KINDS[p["kind"]](p) if p["kind"] in KINDS else None,
    )
