//! A kernel library: an op of a dialect of its own, an operator with a shape function and an attribute, and
//! an operator that is wrong. `bef-exec program.mlir --library target/debug/examples/liblibrary.so` knows
//! them.

use std::ffi::CStr;

use befrost::library::{Frame, LibraryKernel, UseAttrs, UseShapes};
use befrost::{ErrorCode, KernelError};

/// The length of a vector.
struct Length;

impl LibraryKernel for Length {
    const NAME: &'static CStr = c"plane.length";
    const SIGNATURE: &'static CStr = c"f64 f64 -> f64";
    const SUMMARY: &'static CStr = c"the length of a vector";

    fn prepare(_: &UseAttrs<'_>) -> Result<Length, String> {
        Ok(Length)
    }

    fn run(&self, frame: &mut Frame<'_>) -> Result<(), KernelError> {
        let (x, y) = (frame.operand(0)?.elements::<f64>()?, frame.operand(1)?.elements::<f64>()?);
        frame.result(0, &[])?[0] = x[0].hypot(y[0]);
        Ok(())
    }
}

/// Elements times a number.
struct Scaled {
    by: f32,
}

impl LibraryKernel for Scaled {
    const NAME: &'static CStr = c"tf.PlaneScale";
    const SIGNATURE: &'static CStr = c"x:float -> y:float; by:float=1";
    const SUMMARY: &'static CStr = c"Elements times a number.";

    fn prepare(attrs: &UseAttrs<'_>) -> Result<Scaled, String> {
        let by = attrs.float("by").ok_or("'by' is missing")?;
        if by < 0.0 {
            return Err(format!("'by' is {by}, which is negative"));
        }
        Ok(Scaled { by: by as f32 })
    }

    fn run(&self, frame: &mut Frame<'_>) -> Result<(), KernelError> {
        let x = frame.operand(0)?;
        for (y, x) in frame.result::<f32>(0, x.dims)?.iter_mut().zip(x.elements::<f32>()?) {
            *y = x * self.by;
        }
        Ok(())
    }

    fn infer(_: &UseAttrs<'_>, shapes: &mut UseShapes<'_>) -> Result<(), String> {
        match shapes.operand(0) {
            Some(dims) => shapes.set(0, dims),
            None => Ok(()),
        }
    }
}

/// Fails as its operand says.
struct Wrong;

impl LibraryKernel for Wrong {
    const NAME: &'static CStr = c"tf.PlaneWrong";
    const SIGNATURE: &'static CStr = c"how:int32 -> y:float";
    const IS_PURE: bool = false;

    fn prepare(_: &UseAttrs<'_>) -> Result<Wrong, String> {
        Ok(Wrong)
    }

    fn run(&self, frame: &mut Frame<'_>) -> Result<(), KernelError> {
        match frame.operand(0)?.elements::<i32>()? {
            [0] => Err(KernelError::new(ErrorCode::OutOfRange, "as it was told")),
            [1] => panic!("a mistake"),
            [2] => frame.operand(0)?.elements::<f32>().map(drop),
            [3] => frame.operand(1).map(drop),
            [4] => frame.result::<f32>(1, &[]).map(drop),
            [5] => {
                frame.result::<f32>(0, &[1])?;
                frame.result::<f32>(0, &[1]).map(drop)
            }
            [6] => frame.result::<f32>(0, &[-1]).map(drop),
            [7] => frame.forward(0, 1),
            _ => Ok(()),
        }
    }
}

befrost::library!(c"plane": Length, Scaled, Wrong);
