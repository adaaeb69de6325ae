// cotan::dlm: dynamic linear models of time series, that is, linear Gaussian state-space models. Filtering, smoothing,
// likelihood, maximum likelihood, forecasts, simulation. Everything that takes a StateSpace is a pure function of
// arrays: jit, grad, vmap apply to it.
#pragma once
#include <cotan/optim.hpp>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

/// Dynamic linear models of time series: models, filters, smoothers, likelihoods, estimation, forecasts, simulation.
/// What takes a StateSpace is a pure function of arrays: jit, grad and vmap apply to it.
///
///     const ct::dlm::Model model{.blocks = {ct::dlm::Trend{}, ct::dlm::Seasonal{.period = 12}}};
///     const auto found = ct::dlm::estimate(model, y);
///     const auto space = ct::dlm::state_space(model, found.parameters, y, y.size() + 24);
///     const auto next = ct::dlm::forecast(space, y, 24);                              // next.y, next.ystd
namespace cotan::dlm {

// The state-space form ------------------------------------------------------------------------------

/// A part of G on its diagonal, for products that leave zeros out: which of its elements may be other than zero.
enum class Band : std::uint8_t { diagonal = 1, above = 2, below = 4, first_row = 8, first_column = 16, any = 32 };

/// y(t) = F x(t) + N(0, V),  x(t+1) = G x(t) + N(0, W),  x(1) = N(x0, C0) + D0 δ, with m states and p observed values.
/// A matrix that changes with time has a leading axis of steps.
struct StateSpace {
  Array G;   ///< [m, m] or [n, m, m]: from step t to t + 1
  Array F;   ///< [p, m] or [n, p, m]
  Array W;   ///< [m, m] or [n, m, m]
  Array V;   ///< [p, p] or [n, p, p]
  Array x0;  ///< [m]
  Array C0;  ///< [m, m]
  /// [m, d]: directions in which nothing is known of the first state: δ has an infinite variance, and everything is the
  /// exact limit of that (Durbin and Koopman). None: the first state is N(x0, C0).
  std::optional<Array> D0 = {};
  /// Steps that find δ, as far as the series tells about it. 0: not known, and looked for at each step, which takes
  /// longer.
  std::int64_t diffuse_steps = 0;
  /// Sizes of the parts of G, and their Bands, as pairs; none: G may have any elements. Who changes G by hand changes
  /// it, too.
  std::vector<int> bands = {};
};

/// One interface to three ways of computing the same.
enum class Algorithm : std::uint8_t {
  sequential,   ///< one step after the other: the fastest on a CPU
  associative,  ///< by associative_scan: for devices that run many steps at once
  square_root,  ///< the same on square roots of covariances, by QR: the most accurate in f32
};

/// What is known of each step from the steps before it. As long as observations have not found what D0 leaves open,
/// variances on the diagonals of C and S are infinite.
struct Filtered {
  Array x, C;  ///< [n, m], [n, m, m]: predicted states and their covariances
  Array v, S;  ///< [n, p], [n, p, p]: innovations (0 where y is missing) and their covariances, V included
  Array K;     ///< [n, m, p]: gains, G C Fᵀ S⁻¹; 0 where y is missing
};
/// `y` is [n] or [n, p]; NaN is missing.
Filtered filter(const StateSpace& model, const Array& y, Algorithm algorithm = Algorithm::sequential);
/// -2 log L of the observed values; without constants the term log 2π of each is left out. With D0 the exact diffuse
/// likelihood, as statsmodels has it: nothing changes when a constant that the states may take up is added to the
/// series.
Array minus2_log_likelihood(const StateSpace& model, const Array& y, Algorithm algorithm = Algorithm::sequential,
                            bool constants = false);

/// What is known of each step from the whole series.
struct Smoothed {
  Array x, C;  ///< [n, m], [n, m, m]
  Filtered predicted;
};
/// Of `y`, [n] or [n, p]; NaN is missing.
Smoothed smooth(const StateSpace& model, const Array& y, Algorithm algorithm = Algorithm::sequential);

/// What a likelihood says about the choice of a model, counted as statsmodels does: free are the parameters that were
/// estimated and what is diffuse of the first state; steps are all of the series, missing ones included.
struct Criteria {
  Array log_likelihood;  ///< with constants
  Array aic, bic;        ///< Akaike's and the Bayesian one: the less, the better
};
/// Of the likelihood of `y` under the model, to which so many parameters were fitted.
Criteria criteria(const StateSpace& model, const Array& y, std::int64_t estimated_parameters);

/// A series with all that is said about a fit of it. With D0 it is one exact pass, and everything about predictions is
/// NaN as long as nothing can be predicted; else it is the DLM toolbox's, in two passes, where the second one starts
/// from what the first one found: its predictions and its likelihood know something of what comes later.
struct Fit {
  Array x0, C0;              ///< of the first state, as the last pass took them
  Array x, C, xstd;          ///< smoothed states [n, m], covariances, standard deviations
  Array xf, Cf;              ///< the same, predicted from the steps before
  Array v, Cp;               ///< innovations [n, p] (NaN where y is missing), their covariances [n, p, p]
  Array yhat;                ///< F xf, [n, p]
  Array level, ystd;         ///< F x, and the standard deviation of an observation around it
  Array resid0, resid;       ///< y - yhat, and the same in standard deviations of the observation
  Array resid2;              ///< innovations in their own standard deviations
  Array nobs;                ///< observed values
  Array lik, lik_full;       ///< -2 log L without and with constants
  Array ssy, s2, mse, mape;  ///< sum of resid0², mean of resid², of resid2², of |resid2| / y
};
/// Of fit.
struct FitOptions {
  Algorithm algorithm = Algorithm::sequential;
  /// Smooth twice: the second pass starts from the first smoothed state with so many times its covariance; 0: once.
  /// Always once with D0.
  double restart = 100;
};
/// Filters and smooths `y`, [n] or [n, p]; NaN is missing.
Fit fit(const StateSpace& model, const Array& y, const FitOptions& options = {});

/// A fit as people look at it: sums of some states, and predictions. It keeps no covariance of every step, so that
/// models of hundreds of states and series of a million steps fit into memory.
struct Decomposition {
  Array x;                               ///< smoothed states, [n, m]
  Array last_sd;                         ///< standard deviations of the states at the last step, [m]
  Array part, part_sd;                   ///< F x of the states of each part given everything, [n, parts, p]
  std::optional<Array> other, other_sd;  ///< of other combinations, [n, others]
  Array yhat,
      yhat_sd;  ///< observations predicted from the steps before, [n, p]; NaN as long as nothing can be predicted
  Array lik;    ///< -2 log L without constants
  /// The most likely size of a shock that the model leaves out, and its standard deviation, as if it were the only one:
  /// an error of an observed value [n, p], a jump of a state from a step on [n, m]. Sizes in standard deviations are
  /// Durbin and Koopman's auxiliary residuals (for a V and W of no correlations): normal(0, 1) where the model is
  /// right. NaN where nothing tells, as of a missing value; of the first step they say how unlikely the assumed first
  /// state is.
  Array value_shock, value_shock_sd, state_shock, state_shock_sd;
};
/// `parts` is [parts, m], 1 for states that are in a part and 0 for others; `others` is [others, m]. One step after the
/// other. Where the series does not tell, standard deviations are infinite.
Decomposition decompose(const StateSpace& model, const Array& y, const Array& parts,
                        const std::optional<Array>& others = {});

/// The `steps` steps after a series, with matrices of all of them where they change.
struct Forecast {
  Array x, C;     ///< [steps, m], [steps, m, m]
  Array y, ystd;  ///< [steps, p]: of observations; an infinite deviation where the series says nothing about them
};
/// States and observations of the steps after `y`.
Forecast forecast(const StateSpace& model, const Array& y, std::int64_t steps);

/// One observation at a time. A state is what is known before the next one.
struct State {
  Array x, C;
  Array minus2_log;  ///< of what was seen, without constants
  /// [m, d]: directions of which nothing is known yet, and [m]: how large they have been.
  std::optional<Array> D = {}, D_size = {};
};
/// What is known before the first observation.
State first_state(const StateSpace& model);
/// `model` has the matrices of this step; `y` is a number or [p], NaN where missing.
State update(const StateSpace& model, const State& state, const Array& y);

// Drawing -----------------------------------------------------------------------------------------------

/// A series that was drawn, and its states.
struct Drawn {
  Array x, y;  ///< [n, m], [n, p]
};
/// From x(1) = N(x0, C0), without a D0 δ.
Drawn simulate(const StateSpace& model, std::int64_t steps, const Array& key);
/// States as they may have been, given the series (Durbin and Koopman's simulation smoother): [n, m].
Array draw_states(const StateSpace& model, const Array& y, const Array& key,
                  Algorithm algorithm = Algorithm::sequential);

// Models ----------------------------------------------------------------------------------------------

/// Parameters by name: standard deviations and coefficients. In a Model, blocks with the same name share a parameter.
using Parameters = std::map<std::string, Array>;

/// A polynomial: its value (order 0), with a slope (1), with a slope that changes (2).
struct Trend {
  int order = 1;
  std::vector<std::string> sd = {"level", "slope", "curvature"};
};
/// One effect for each step of the period; they sum to zero.
struct Seasonal {
  int period = 12;
  std::string sd = "season";
};
/// The first so many harmonics of a period, two states each. One standard deviation for all states, or one for each;
/// none: "harmonic 1", "harmonic 1 conjugate", …
struct Harmonics {
  double period = 12;
  int count = 1;
  std::vector<std::string> sd = {};
};
/// A stationary AR(p) process.
struct AutoRegression {
  int order = 1;
  std::string sd = "ar", coefficients = "phi";
};
/// Effects of known series, [n, k]: constant, or random walks where `sd` names a parameter.
struct Regression {
  Array x;
  std::string sd = "";
};
/// A cubic smoothing spline: an integrated Wiener process.
struct Spline {
  std::string sd = "spline";
};
/// A part of a model; their sum is observed.
using Block = std::variant<Trend, Seasonal, Harmonics, AutoRegression, Regression, Spline>;

/// What is assumed of the first state.
enum class FirstState : std::uint8_t {
  diffuse,  ///< nothing; autoregressions start from their stationary distribution
  toolbox,  ///< as the DLM toolbox has it, for every state: the first season's mean or 0, as unsure as half that mean
};

/// Blocks, and what they are observed with. state_space makes matrices of it.
struct Model {
  std::vector<Block> blocks = {Trend{}};
  std::string sd = "obs";          ///< of the observations
  Array scale = {};                ///< [n], times the observations' standard deviation; none: 1
  std::vector<double> times = {};  ///< [n], increasing, in steps; none: 1, 2, …
  FirstState first = FirstState::diffuse;
  Array x0 = {},
        C0 = {};  ///< of the first state, instead of that: N(x0, C0); where one is given, the other is the toolbox's

  /// How many states it has.
  int states() const;
  /// Steps of its longest season, or 12: the values that the first state is made of.
  int season() const;
  /// What each state is called, for people.
  std::vector<std::string> state_names() const;
};

/// A parameter that a model names.
struct ParameterInfo {
  std::string name;
  /// Which of them cannot be negative, and which are coefficients of a stationary process.
  enum class Kind : std::uint8_t { standard_deviation, autoregression } kind;
  int size;  ///< coefficients
};
/// In the order in which the blocks name them, the observations' first.
std::vector<ParameterInfo> parameters_of(const Model& model);

/// The model as matrices for `steps` steps, at least as many as `y` has. Standard deviations that `parameters` does not
/// name are 0. Where `y` is not traced, it says how many steps find a diffuse first state.
StateSpace state_space(const Model& model, const Parameters& parameters, const Array& y, std::int64_t steps = 0);
/// Models of several series at once, observed side by side: independent but for the observations' errors, which may
/// be correlated: [p, p].
StateSpace together(const std::vector<StateSpace>& models, const Array& correlation = {});

// Estimation ------------------------------------------------------------------------------------------

/// Parameters as a vector without bounds: logarithms of standard deviations, and for autoregressions the numbers whose
/// tanh are partial autocorrelations, so that every vector is a stationary process.
Array unconstrained(const Model& model, const Parameters& parameters, const std::vector<std::string>& names);
/// The inverse of unconstrained: parameters of such a vector.
Parameters constrained(const Model& model, const Array& theta, const std::vector<std::string>& names);
/// Where searches start: by the size of the series and of its differences.
Parameters default_start(const Model& model, const Array& y);

/// Of estimate.
struct EstimateOptions {
  std::vector<std::string> free = {};  ///< what is estimated; none: all parameters of the model
  Parameters start = {};               ///< first values, and values of what is not estimated; others by default_start
  optim::MinimizeOptions minimize = {};
  Algorithm algorithm = Algorithm::sequential;
  int starts = 1;  ///< searches from different first values, the best of which is the result
  /// -2 log of a prior density: what it adds makes the estimate the most probable one a posteriori.
  std::function<Array(const Parameters&)> penalty = {};
  bool standard_errors = true;
  /// Called now and then with evaluations so far and the lowest value.
  std::function<void(std::int64_t, double)> progress = {};
};
/// What an estimation found.
struct Estimate {
  Parameters parameters;       ///< all of them
  Parameters standard_errors;  ///< of those that were estimated; NaN where the likelihood says nothing
  Array value;                 ///< -2 log L without constants, and the penalty
  Criteria criteria;           ///< without the penalty
  Array theta, covariance;     ///< the unconstrained vector, and its covariance from the exact Hessian
  Array iterations, evaluations, converged;
};
/// By maximum likelihood, or a posteriori. Without `progress` a pure function of `y`.
Estimate estimate(const Model& model, const Array& y, const EstimateOptions& options = {});

/// Of gibbs.
struct GibbsOptions {
  int samples = 1000, burn_in = 200;
  Parameters start = {};  ///< others by default_start; autoregressive coefficients stay as they are
  /// Of each variance: inverse gamma with this shape, and a scale of this many times the first value's variance.
  double prior_shape = 1, prior_scale = 1;
};
/// Draws of the standard deviations a posteriori, [samples] each, and the states of the last draw.
struct GibbsDraws {
  Parameters parameters;
  Array x;
};
/// Draws by Gibbs sampling: states given variances, variances given states. A pure function of `y` and `key`.
GibbsDraws gibbs(const Model& model, const Array& y, const Array& key, const GibbsOptions& options = {});

}  // namespace cotan::dlm
