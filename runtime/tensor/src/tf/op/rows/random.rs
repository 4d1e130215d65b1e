//! Random tensors.

use super::super::eval;
use super::super::infer::{arrays, random, rules};
use super::super::row::{Cost, Gradient, function, random};
use super::operators::operators;

operators! { 12:
    /// Class numbers, drawn by logits.
    Multinomial
        "!logits:T num_samples:int32 -> output:output_dtype; T:type output_dtype:type=int64 seed:int=0 seed2:int=0"
        => random(eval::random::multinomial, random::multinomial, Cost::PerResult(32));
    /// The slices along the first axis in a random order.
    RandomShuffle
        "!value:T -> output:T; T:type seed:int=0 seed2:int=0"
        => random(eval::random::shuffle, rules::same, Cost::Moves);
    /// Random numbers of the normal distribution.
    RandomStandardNormal
        "!shape:T -> output:dtype; T:type dtype:type seed:int=0 seed2:int=0"
        => random(eval::random::stateful, arrays::fill, Cost::PerResult(32));
    /// Random numbers of the uniform distribution on [0, 1).
    RandomUniform
        "!shape:T -> output:dtype; T:type dtype:type seed:int=0 seed2:int=0"
        => random(eval::random::stateful, arrays::fill, Cost::PerResult(16));
    /// Random integers of the uniform distribution.
    RandomUniformInt
        "!shape:T minval:Tout maxval:Tout -> output:Tout; T:type Tout:type seed:int=0 seed2:int=0"
        => random(eval::random::stateful_int, arrays::fill, Cost::PerResult(16));
    /// Random numbers of the normal distribution within two standard deviations.
    TruncatedNormal
        "!shape:T -> output:dtype; T:type dtype:type seed:int=0 seed2:int=0"
        => random(eval::random::stateful, arrays::fill, Cost::PerResult(64));
    /// Class numbers, drawn by logits, from seeds.
    StatelessMultinomial
        "logits:T num_samples:int32 seed:Tseed -> output:output_dtype; T:type Tseed:type=int64 \
         output_dtype:type=int64"
        => function(eval::random::stateless_multinomial, random::multinomial, Cost::PerResult(32)).random().no_gradient();
    /// Random numbers of the normal distribution, from seeds.
    StatelessRandomNormal
        "shape:T seed:Tseed -> output:dtype; T:type=int32 Tseed:type=int64 dtype:type=float"
        => function(eval::random::stateless, arrays::fill, Cost::PerResult(32)).random().no_gradient();
    /// Random numbers of the normal distribution, from key and counter.
    StatelessRandomNormalV2
        "shape:Tshape key:uint64 counter:uint64 alg:int32 -> output:dtype; Tshape:type=int32 \
         dtype:type=float"
        => function(eval::random::stateless_v2, arrays::fill, Cost::PerResult(32)).random().no_gradient();
    /// Random numbers of the uniform distribution on [0, 1), from seeds.
    StatelessRandomUniform
        "shape:T seed:Tseed -> output:dtype; T:type=int32 Tseed:type=int64 dtype:type=float"
        => function(eval::random::stateless, arrays::fill, Cost::PerResult(32)).random().no_gradient();
    /// Random numbers of the uniform distribution on [0, 1), from key and counter.
    StatelessRandomUniformV2
        "shape:Tshape key:uint64 counter:uint64 alg:int32 -> output:dtype; Tshape:type=int32 \
         dtype:type=float"
        => function(eval::random::stateless_v2, arrays::fill, Cost::PerResult(32)).random().no_gradient();
    /// Random integers of the whole range of the type, from seeds.
    StatelessRandomUniformFullInt
        "shape:T seed:Tseed -> output:dtype; T:type=int32 Tseed:type=int64 dtype:type=uint64"
        => function(eval::random::stateless, arrays::fill, Cost::PerResult(32)).random().no_gradient();
    /// Random integers of the whole range of the type, from key and counter.
    StatelessRandomUniformFullIntV2
        "shape:Tshape key:uint64 counter:uint64 alg:int32 -> output:dtype; Tshape:type=int32 \
         dtype:type=uint64"
        => function(eval::random::stateless_v2, arrays::fill, Cost::PerResult(32)).random().no_gradient();
    /// Random numbers of the normal distribution within two standard deviations, from seeds.
    StatelessTruncatedNormal
        "shape:T seed:Tseed -> output:dtype; T:type=int32 Tseed:type=int64 dtype:type=float"
        => function(eval::random::stateless, arrays::fill, Cost::PerResult(32)).random().no_gradient();
    /// Random numbers of the normal distribution within two standard deviations, from key and counter.
    StatelessTruncatedNormalV2
        "shape:Tshape key:uint64 counter:uint64 alg:int32 -> output:dtype; Tshape:type=int32 \
         dtype:type=float"
        => function(eval::random::stateless_v2, arrays::fill, Cost::PerResult(32)).random().no_gradient();
    /// Random integers of the uniform distribution, from seeds.
    StatelessRandomUniformInt
        "shape:T seed:Tseed minval:dtype maxval:dtype -> output:dtype; T:type Tseed:type=int64 dtype:type"
        => function(eval::random::stateless_int, arrays::fill, Cost::PerResult(16)).random().no_gradient();
    /// Random integers of the uniform distribution, from key and counter.
    StatelessRandomUniformIntV2
        "shape:Tshape key:uint64 counter:uint64 alg:int32 minval:dtype maxval:dtype -> output:dtype; \
         Tshape:type=int32 dtype:type"
        => function(eval::random::stateless_int_v2, arrays::fill, Cost::PerResult(16)).random().no_gradient();
    /// The code of the algorithm for random numbers.
    StatelessRandomGetAlg
        "-> alg:int32;"
        => function(eval::random::algorithm, rules::scalar, Cost::Free).no_gradient();
    /// Key and counter of the stream of two seeds.
    StatelessRandomGetKeyCounter
        "seed:Tseed -> key:uint64 counter:uint64; Tseed:type=int64"
        => function(eval::random::key_counter_alg, random::key_counter_alg, Cost::Free).no_gradient();
    /// Key, counter and algorithm of the stream of two seeds.
    StatelessRandomGetKeyCounterAlg
        "seed:Tseed -> key:uint64 counter:uint64 alg:int32; Tseed:type=int64"
        => function(eval::random::key_counter_alg, random::key_counter_alg, Cost::Free).no_gradient();
    /// Random numbers of the binomial distribution, from seeds.
    StatelessRandomBinomial
        "shape:S seed:Tseed counts:T probs:T -> output:dtype; S:type T:type=double Tseed:type=int64 \
         dtype:type=int64"
        => function(eval::random::stateless_binomial, arrays::fill, Cost::PerResult(256)).random().no_gradient();
    /// The slices along the first axis in a random order, from key and counter.
    StatelessShuffle
        "value:T key:uint64 counter:uint64 alg:int32 -> output:T; T:type"
        => function(eval::random::stateless_shuffle, rules::same, Cost::Moves).differentiated(Gradient::Missing);
    /// Random integers of the whole range of the type, different ones in each run.
    NonDeterministicInts
        "!shape:shape_dtype -> output:dtype; dtype:type=int64 shape_dtype:type=int64"
        => random(eval::random::nondeterministic, arrays::fill, Cost::PerResult(16));
    /// Random numbers of gamma distributions, samples for each parameter.
    RandomGamma
        "!shape:S alpha:T -> output:T; S:type T:type seed:int=0 seed2:int=0"
        => random(eval::random::gamma, random::samples, Cost::PerResult(256)).differentiated(Gradient::Rule);
    /// Random numbers of Poisson distributions, samples for each rate.
    RandomPoisson
        "!shape:S rate:dtype -> output:dtype; S:type dtype:type seed:int=0 seed2:int=0"
        => random(eval::random::poisson, random::samples, Cost::PerResult(256));
    /// Random numbers of Poisson distributions, samples for each rate.
    RandomPoissonV2
        "!shape:S rate:R -> output:dtype; R:type=double S:type dtype:type=int64 seed:int=0 seed2:int=0"
        => random(eval::random::poisson, random::samples, Cost::PerResult(256));
    /// Random numbers of normal distributions between ends, for each position along the first axis.
    ParameterizedTruncatedNormal
        "!shape:T means:dtype stdevs:dtype minvals:dtype maxvals:dtype -> output:dtype; T:type dtype:type \
         seed:int=0 seed2:int=0"
        => random(eval::random::truncated_normal, arrays::fill, Cost::PerResult(128));
    /// Random numbers of normal distributions between ends, from seeds.
    StatelessParameterizedTruncatedNormal
        "shape:S seed:Tseed means:dtype stddevs:dtype minvals:dtype maxvals:dtype -> output:dtype; S:type \
         Tseed:type=int64 dtype:type"
        => function(eval::random::stateless_truncated_normal, arrays::fill, Cost::PerResult(128)).random();
    /// Random numbers of gamma distributions, from seeds.
    StatelessRandomGammaV2
        "shape:T seed:Tseed alpha:dtype -> output:dtype; T:type Tseed:type=int64 dtype:type"
        => function(eval::random::stateless_gamma, arrays::fill, Cost::PerResult(256)).random();
    /// Random numbers of gamma distributions, from key and counter.
    StatelessRandomGammaV3
        "shape:shape_dtype key:uint64 counter:uint64 alg:int32 alpha:dtype -> output:dtype; dtype:type \
         shape_dtype:type=int32"
        => function(eval::random::stateless_gamma_v3, arrays::fill, Cost::PerResult(256)).random();
    /// Random numbers of Poisson distributions, from seeds.
    StatelessRandomPoisson
        "shape:T seed:Tseed lam:Rtype -> output:dtype; Rtype:type T:type Tseed:type=int64 dtype:type"
        => function(eval::random::stateless_poisson, arrays::fill, Cost::PerResult(256)).no_gradient().random();
    /// All classes as candidates.
    AllCandidateSampler
        "!true_classes:int64 -> sampled_candidates:int64 true_expected_count:float \
         sampled_expected_count:float; num_sampled:int num_true:int seed:int=0 seed2:int=0 unique:bool"
        => random(eval::random::candidates, random::candidates, Cost::PerResult(32));
    /// Candidates, drawn by the numbers of true classes so far.
    LearnedUnigramCandidateSampler
        "!true_classes:int64 -> sampled_candidates:int64 true_expected_count:float \
         sampled_expected_count:float; num_sampled:int num_true:int range_max:int seed:int=0 seed2:int=0 unique:bool"
        => random(eval::random::candidates, random::candidates, Cost::PerResult(32));
    /// Candidates, drawn with logarithms that are nearly uniform.
    LogUniformCandidateSampler
        "!true_classes:int64 -> sampled_candidates:int64 true_expected_count:float \
         sampled_expected_count:float; num_sampled:int num_true:int range_max:int seed:int=0 seed2:int=0 unique:bool"
        => random(eval::random::candidates, random::candidates, Cost::PerResult(32));
    /// Candidates, drawn by the numbers of true classes so far.
    ThreadUnsafeUnigramCandidateSampler
        "!true_classes:int64 -> sampled_candidates:int64 true_expected_count:float \
         sampled_expected_count:float; num_sampled:int num_true:int range_max:int seed:int=0 seed2:int=0 unique:bool"
        => random(eval::random::candidates, random::candidates, Cost::PerResult(32));
    /// Candidates, all classes with the same probability.
    UniformCandidateSampler
        "!true_classes:int64 -> sampled_candidates:int64 true_expected_count:float \
         sampled_expected_count:float; num_sampled:int num_true:int range_max:int seed:int=0 seed2:int=0 unique:bool"
        => random(eval::random::candidates, random::candidates, Cost::PerResult(32));
    /// Candidates, drawn by given weights.
    FixedUnigramCandidateSampler
        "!true_classes:int64 -> sampled_candidates:int64 true_expected_count:float \
         sampled_expected_count:float; distortion:float=1 num_reserved_ids:int=0 num_sampled:int \
         num_shards:int=1 num_true:int range_max:int seed:int=0 seed2:int=0 shard:int=0 \
         unigrams:list(float)=[] unique:bool vocab_file:string=''"
        => random(eval::random::candidates, random::candidates, Cost::PerResult(32));
    /// The candidates that are true classes.
    ComputeAccidentalHits
        "true_classes:int64 sampled_candidates:int64 -> indices:int32 ids:int64 weights:float; num_true:int \
         seed:int=0 seed2:int=0"
        => function(eval::random::accidental_hits, random::accidental_hits, Cost::PerOperand(8)).no_gradient();
}
