//! BEF files from the compiler to the runtime: nothing is lost, damaged files do no harm, and files may be
//! large, replaced or locked.

mod attributes;
mod files;
mod hostile;
mod large;
mod round_trip;
