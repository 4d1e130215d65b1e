//! Parameters: the type of a kernel's argument determines its source.
//!
//! | parameter | comes from |
//! |---|---|
//! | `i32`, `f32`, ..., [`Chain`] | an operand |
//! | `&T`, `T: Object` | an operand |
//! | `&Value` | an operand in any state |
//! | [`Rest<T>`], `Rest<Value>`, [`Ignored`] | all further operands |
//! | [`Attr<T>`], [`StrAttr`], [`DenseAttr`], [`CompilationUnit`], [`RawAttr`] | an attribute |
//! | [`Prepared<T>`](super::Prepared) | data computed for the use when the program was loaded |
//! | [`Callee`](super::Callee) | a function |
//! | [`&ExecContext`](ExecContext), [`Site`] | the execution |
//! | [`FrameCx`](super::FrameCx) | the chain of callers |
//!
//! The executor replaces final AsyncValues by their values before a kernel runs, so only operands that are
//! taken in any state may be AsyncValues.

#![allow(
    clippy::needless_lifetimes,
    reason = "`extract` is written alike for items that borrow and those that do not"
)]

use std::marker::PhantomData;

use bef_format::{AttrId, AttrView, DType};
use befrost_mem::Buffer;

use super::attr::{FromAttr, RawAttr};
use super::frame::{KernelFrame, Outcome, Site};
use super::prepare::{MakePrepared, Prepare, Prepared};
use super::signature::{AttrSpec, Signature};
use crate::context::ExecContext;
use crate::error::{ErrorCode, KernelError};
use crate::object::Object;
use crate::value::{Chain, Scalar, Value};

/// The numbers of operands, attributes and functions that have been extracted.
#[derive(Debug, Default)]
pub struct Cursor {
    operand: usize,
    attr: usize,
    function: usize,
}

impl Cursor {
    /// The next operand; for a final AsyncValue, its value. For parameters that accept several types.
    #[inline(always)]
    pub fn next_operand<'f>(&mut self, frame: &'f KernelFrame<'_>) -> Option<&'f Value> {
        frame.slot(next(&mut self.operand)).final_value()
    }

    pub(super) fn next_function(&mut self) -> usize {
        next(&mut self.function)
    }
}

#[inline(always)]
fn next(count: &mut usize) -> usize {
    *count += 1;
    *count - 1
}

/// Type of a kernel's parameter.
pub trait Param {
    /// The parameter, borrowed from a frame.
    type Item<'f>;
    /// Adds the parameter to a signature.
    fn declare(signature: &mut Signature);
    /// Extracts it from the frame.
    ///
    /// # Errors
    /// The outcome to return instead of running the kernel.
    fn extract<'f>(frame: &'f KernelFrame<'_>, cursor: &mut Cursor) -> Result<Self::Item<'f>, Outcome>;
}

macro_rules! scalar_param {
    ($($ty:ty),*) => {$(
        impl Param for $ty {
            type Item<'f> = $ty;
            fn declare(signature: &mut Signature) {
                signature.operands.push(<$ty as Scalar>::TYPES);
            }
            #[inline(always)]
            fn extract<'f>(frame: &'f KernelFrame<'_>, cursor: &mut Cursor) -> Result<$ty, Outcome> {
                Outcome::required(<$ty>::from_value(frame.slot(next(&mut cursor.operand))))
            }
        }
    )*};
}

scalar_param!(bool, i8, i16, i32, i64, u8, u16, u32, u64, half::f16, half::bf16, f32, f64, [f32; 2], Chain);

impl<T: Object> Param for &T {
    type Item<'f> = &'f T;
    fn declare(signature: &mut Signature) {
        signature.operands.push(T::TYPES);
    }
    #[inline]
    fn extract<'f>(frame: &'f KernelFrame<'_>, cursor: &mut Cursor) -> Result<&'f T, Outcome> {
        Outcome::required(frame.slot(next(&mut cursor.operand)).downcast_ref())
    }
}

impl Param for &Value {
    type Item<'f> = &'f Value;
    fn declare(signature: &mut Signature) {
        signature.operands.push(&[]);
        signature.takes_any_state = true;
    }
    #[inline]
    fn extract<'f>(frame: &'f KernelFrame<'_>, cursor: &mut Cursor) -> Result<&'f Value, Outcome> {
        Outcome::required(frame.raw_operand(next(&mut cursor.operand)))
    }
}

/// All further operands, each of type `T`.
pub struct Rest<'f, T> {
    slots: &'f [Value],
    operands: &'f [u32],
    _of: PhantomData<T>,
}

impl<'f, T> Rest<'f, T> {
    /// The operands that have not been extracted.
    fn after(frame: &'f KernelFrame<'_>, cursor: &mut Cursor) -> Rest<'f, T> {
        let operands = frame.operand_slots();
        let first = std::mem::replace(&mut cursor.operand, operands.len());
        let operands = operands.get(first..).unwrap_or_default();
        Rest { slots: frame.slots(), operands, _of: PhantomData }
    }
}

impl<T: Scalar> Rest<'_, T> {
    /// The operands, in order.
    ///
    /// # Errors
    /// For each one that is not a concrete `T`. The outcome is the kernel's.
    pub fn iter(&self) -> impl Iterator<Item = Result<T, Outcome>> {
        let value = |slot: u32| self.slots.get(slot as usize).and_then(T::from_value);
        self.operands.iter().map(move |&operand| value(operand).ok_or(Outcome::Operand))
    }
}

impl<T: Scalar> Param for Rest<'_, T> {
    type Item<'f> = Rest<'f, T>;
    fn declare(signature: &mut Signature) {
        signature.rest = Some(T::TYPES);
    }
    fn extract<'f>(frame: &'f KernelFrame<'_>, cursor: &mut Cursor) -> Result<Rest<'f, T>, Outcome> {
        Ok(Rest::after(frame, cursor))
    }
}

impl<'f> Rest<'f, Value> {
    /// The operands, in order.
    pub fn iter(&self) -> impl Iterator<Item = &'f Value> + use<'f> {
        let slots = self.slots;
        self.operands.iter().filter_map(move |&slot| slots.get(slot as usize))
    }

    /// Copies of the operands, in order.
    pub fn to_vec(&self) -> Vec<Value> {
        self.iter().cloned().collect()
    }
}

impl Param for Rest<'_, Value> {
    type Item<'f> = Rest<'f, Value>;
    fn declare(signature: &mut Signature) {
        signature.rest = Some(&[]);
    }
    fn extract<'f>(frame: &'f KernelFrame<'_>, cursor: &mut Cursor) -> Result<Rest<'f, Value>, Outcome> {
        Ok(Rest::after(frame, cursor))
    }
}

/// All further operands, of any types, which the kernel waits for and does not read.
#[derive(Clone, Copy, Debug)]
pub struct Ignored;

impl Param for Ignored {
    type Item<'f> = Ignored;
    fn declare(signature: &mut Signature) {
        signature.rest = Some(&[]);
        signature.reads_nothing = signature.operands.is_empty();
    }
    fn extract<'f>(_: &'f KernelFrame<'_>, _: &mut Cursor) -> Result<Ignored, Outcome> {
        Ok(Ignored)
    }
}

/// An attribute that is a number.
#[derive(Clone, Copy, Debug)]
pub struct Attr<T>(pub T);

/// The view of the next attribute. The loader has checked that there is one.
fn next_attr<'f>(frame: &'f KernelFrame<'_>, cursor: &mut Cursor) -> Result<AttrView<'f>, Outcome> {
    let i = next(&mut cursor.attr);
    frame
        .attr(i)
        .ok_or_else(|| Outcome::error(KernelError::new(ErrorCode::Internal, format!("no attribute #{i}"))))
}

impl<T: FromAttr> Param for Attr<T> {
    type Item<'f> = Attr<T>;
    fn declare(signature: &mut Signature) {
        signature.attrs.push(AttrSpec::of::<T>());
    }
    #[inline]
    fn extract<'f>(frame: &'f KernelFrame<'_>, cursor: &mut Cursor) -> Result<Attr<T>, Outcome> {
        let i = next(&mut cursor.attr);
        frame.immediate(i).and_then(T::from_value).map(Attr).ok_or_else(|| wrong_attr::<T>(i))
    }
}

/// The outcome for an attribute that is not a `T`: a bug, since the loader has checked it.
#[cold]
fn wrong_attr<T: FromAttr>(i: usize) -> Outcome {
    let message = format!("attribute #{i} is not {}", T::KIND);
    Outcome::error(KernelError::new(ErrorCode::Internal, message))
}

/// An attribute that is a string.
#[derive(Clone, Copy, Debug)]
pub struct StrAttr<'f>(pub &'f str);

impl Param for StrAttr<'_> {
    type Item<'f> = StrAttr<'f>;
    fn declare(signature: &mut Signature) {
        let accepts = |attr: &AttrView<'_>| matches!(attr, AttrView::Str(_));
        signature.attrs.push(AttrSpec { kind: "a string attribute", accepts });
    }
    fn extract<'f>(frame: &'f KernelFrame<'_>, cursor: &mut Cursor) -> Result<StrAttr<'f>, Outcome> {
        match next_attr(frame, cursor)? {
            AttrView::Str(text) => Ok(StrAttr(text)),
            attr => Err(Outcome::error(KernelError::invalid(format!(
                "expected a string attribute, got {attr:?}"
            )))),
        }
    }
}

impl Param for RawAttr<'_> {
    type Item<'f> = RawAttr<'f>;
    fn declare(signature: &mut Signature) {
        signature.attrs.push(AttrSpec { kind: "an attribute", accepts: |_| true });
    }
    fn extract<'f>(frame: &'f KernelFrame<'_>, cursor: &mut Cursor) -> Result<RawAttr<'f>, Outcome> {
        next_attr(frame, cursor).map(|view| RawAttr::new(view, frame.image()))
    }
}

/// A tensor in the file.
#[derive(Debug)]
pub struct DenseAttr<'f> {
    /// Type of the elements.
    pub dtype: DType,
    /// The dimensions.
    pub shape: &'f [i64],
    /// The elements, or the element of a splat: a view of the file, which keeps the file alive.
    pub data: Buffer,
    /// True if all elements equal the one in `data`.
    pub splat: bool,
}

impl Param for DenseAttr<'_> {
    type Item<'f> = DenseAttr<'f>;
    fn declare(signature: &mut Signature) {
        let accepts = |attr: &AttrView<'_>| matches!(attr, AttrView::Dense { .. });
        signature.attrs.push(AttrSpec { kind: "a dense attribute", accepts });
    }
    fn extract<'f>(frame: &'f KernelFrame<'_>, cursor: &mut Cursor) -> Result<DenseAttr<'f>, Outcome> {
        match next_attr(frame, cursor)? {
            AttrView::Dense { ty: _, dtype, shape, data, splat } => {
                let data = frame.mapped(data).map_err(|error| {
                    Outcome::error(KernelError::new(ErrorCode::Internal, format!("attribute data: {error}")))
                })?;
                Ok(DenseAttr { dtype, shape, data, splat })
            }
            attr => {
                Err(Outcome::error(KernelError::invalid(format!("expected a dense attribute, got {attr:?}"))))
            }
        }
    }
}

/// A module to compile, or a symbol in it.
#[derive(Clone, Debug)]
pub struct CompilationUnit<'f> {
    /// Identifies the module in the file, as a key of compiled modules.
    pub id: u32,
    /// The module's symbol name.
    pub root: &'f str,
    /// The names that lead to a symbol in it; empty for the whole module.
    pub nested: Vec<&'f str>,
    /// The module as generic MLIR text.
    pub text: &'f str,
}

impl Param for CompilationUnit<'_> {
    type Item<'f> = CompilationUnit<'f>;
    fn declare(signature: &mut Signature) {
        let accepts = |attr: &AttrView<'_>| {
            matches!(attr, AttrView::CompiledModule { .. } | AttrView::CompilationUnit { .. })
        };
        signature.attrs.push(AttrSpec { kind: "a compilation unit", accepts });
    }
    fn extract<'f>(frame: &'f KernelFrame<'_>, cursor: &mut Cursor) -> Result<CompilationUnit<'f>, Outcome> {
        let image = frame.image();
        let whole = frame.attr_id(cursor.attr);
        let attr = next_attr(frame, cursor)?;
        let (module, nested) = match attr {
            AttrView::CompilationUnit { module, nested } => (Some(module), nested),
            _ => (whole, &[][..]),
        };
        match module.map(|id| (id, image.attr(id))) {
            Some((AttrId(id), AttrView::CompiledModule { name, text, place: _ })) => {
                let nested = nested.iter().map(|&name| image.string(name)).collect();
                Ok(CompilationUnit { id, root: name, nested, text })
            }
            _ => Err(Outcome::error(KernelError::invalid(format!(
                "expected a compilation unit, got {attr:?}"
            )))),
        }
    }
}

impl<T: Prepare> Param for Prepared<'_, T> {
    type Item<'f> = Prepared<'f, T>;
    fn declare(signature: &mut Signature) {
        signature.prepare = Some(MakePrepared::new(T::prepare));
    }
    #[inline]
    fn extract<'f>(frame: &'f KernelFrame<'_>, _: &mut Cursor) -> Result<Prepared<'f, T>, Outcome> {
        frame.prepared()
    }
}

impl Param for &ExecContext {
    type Item<'f> = &'f ExecContext;
    fn declare(_: &mut Signature) {}
    #[inline]
    fn extract<'f>(frame: &'f KernelFrame<'_>, _: &mut Cursor) -> Result<&'f ExecContext, Outcome> {
        Ok(frame.context())
    }
}

impl Param for Site {
    type Item<'f> = Site;
    fn declare(_: &mut Signature) {}
    fn extract<'f>(frame: &'f KernelFrame<'_>, _: &mut Cursor) -> Result<Site, Outcome> {
        Ok(frame.site())
    }
}
