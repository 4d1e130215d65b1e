//! Options of the printer.

/// Options of the printer.
#[derive(Clone, Copy, Debug, Default)]
pub struct PrintOptions {
    /// All ops in generic form.
    pub generic: bool,
    /// Values keep their names in the source text.
    pub keep_names: bool,
    /// Print locations, as aliases defined at the end.
    pub locations: bool,
    /// Everything is written at its use: no aliases and no resources around the op.
    pub local_scope: bool,
    /// Constants of more elements than this are written as `dense_resource<__elided__>`, and resources of
    /// more bytes are left out; splats never. Such text shows a program, but cannot be compiled.
    pub elide_larger_than: Option<usize>,
}
