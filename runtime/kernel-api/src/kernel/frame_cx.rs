//! [`FrameCx`]: the identity of the kernel's frame, as a parameter.
//!
//! ```text
//! kernel!("my.send", |x: &Tensor, edge: Attr<i64>, frame: FrameCx<'_>, cx: &ExecContext| {
//!     send(Key { step: cx.request.step, edge: edge.0, frame: frame.into_path() }, x)
//! })
//! ```
//!
//! The path is computed when the kernel is called, by a walk over its callers. Kernels without this parameter
//! do not pay for it.

use std::fmt;

use super::file::LoadedFile;
use super::frame::{KernelFrame, Outcome};
use super::param::{Cursor, Param};
use super::signature::Signature;
use crate::context::{FramePath, FrameStep, KernelRef};

/// The frame of a kernel. Prints as the calls that lead to it, outermost first: `/while_1#3[7]/body#0[2]`. A
/// call prints as a name, the number of the calling kernel in its function, and the iteration. The name is
/// that of the kernel's location, of the callee, or of the kernel: the first that is not empty.
#[derive(Clone)]
pub struct FrameCx<'f> {
    path: FramePath,
    file: &'f LoadedFile,
}

impl<'f> FrameCx<'f> {
    /// The calls that lead to the frame.
    pub fn path(&self) -> &FramePath {
        &self.path
    }

    /// The calls that lead to the frame, as an owned path.
    pub fn into_path(self) -> FramePath {
        self.path
    }

    /// A call on the way to the frame, as it prints, without the iteration. Empty if there is no such call.
    pub fn name_of(&self, call: usize) -> String {
        let Some(&FrameStep { caller, kernel, callee, .. }) = self.path.steps().get(call) else {
            return String::new();
        };
        let at = KernelRef { function: caller, kernel };
        let name = self.file.location_name(at).filter(|name| !name.is_empty()).unwrap_or_else(|| {
            let callee = self.file.image().function(callee).name();
            if callee.is_empty() { self.file.kernel_view(at).name() } else { callee }.into()
        });
        format!("{name}#{kernel}")
    }

    /// The iteration of the innermost call; see [`FrameStep::iteration`].
    pub fn iteration(&self) -> u64 {
        self.path.iteration()
    }
}

impl Param for FrameCx<'_> {
    type Item<'f> = FrameCx<'f>;
    fn declare(signature: &mut Signature) {
        signature.takes_frame = true;
    }
    fn extract<'f>(frame: &'f KernelFrame<'_>, _: &mut Cursor) -> Result<FrameCx<'f>, Outcome> {
        Ok(FrameCx { path: frame.path()?, file: frame.file() })
    }
}

impl fmt::Display for FrameCx<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.steps().is_empty() {
            return f.write_str("/");
        }
        for (call, step) in self.path.steps().iter().enumerate() {
            write!(f, "/{}[{}]", self.name_of(call), step.iteration)?;
        }
        Ok(())
    }
}

impl fmt::Debug for FrameCx<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FrameCx({self})")
    }
}
