//! The executor against the oracle of op graphs, and the oracle against TensorFlow.
#![forbid(unsafe_code)]

mod compare;
mod devices;
mod gradients;
mod models;
mod random;
