//! Windows over images with any number of spatial axes.
//!
//! ```text
//! start of window o = o * stride - before          tap j of window o = start + j * dilation
//! ```
//!
//! A tap is an element of a window. The numbers come from attributes, so [`WindowSteps::span`] checks that
//! positions fit i64. A window may be much larger than its image, so walks visit only the taps inside of it.

use std::ops::Range;

use crate::TensorError;
use crate::error::invalid;
use crate::interrupt::is_interrupted;

/// Strides, dilations and pads of windows, for each spatial axis. An empty list means ones, or zeros for
/// pads. `pads` lists the padding before each axis, then the padding after each axis.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WindowSteps {
    /// The distances between neighbouring windows.
    pub strides: Vec<i64>,
    /// The distances between neighbouring taps of a window.
    pub dilations: Vec<i64>,
    /// The padding.
    pub pads: Vec<i64>,
}

/// The windows along an axis of an image.
#[derive(Clone, Copy, Debug)]
pub(in crate::tf) struct WindowAxis {
    /// The length of the axis.
    pub(in crate::tf) len: usize,
    /// The number of elements of a window.
    pub(super) size: usize,
    pub(super) stride: i64,
    pub(super) dilation: i64,
    pub(super) before: i64,
    after: i64,
    /// The number of windows.
    pub(in crate::tf) count: usize,
}

impl WindowSteps {
    /// An error unless the lists fit `n` axes.
    pub(in crate::tf) fn expect_axes(&self, op: &'static str, n: usize) -> Result<(), TensorError> {
        let WindowSteps { strides, dilations, pads } = self;
        let fits = |list: &Vec<i64>, n: usize| list.is_empty() || list.len() == n;
        if fits(strides, n) && fits(dilations, n) && fits(pads, 2 * n) {
            return Ok(());
        }
        invalid(op, format!("strides {strides:?}, dilations {dilations:?} and pads {pads:?} for {n} axes"))
    }

    /// Stride, dilation, and the padding before and after axis `i` of `n`.
    fn of(&self, i: usize, n: usize) -> [i64; 4] {
        let at = |list: &[i64], i: usize, missing| list.get(i).copied().unwrap_or(missing);
        let WindowSteps { strides, dilations, pads } = self;
        [at(strides, i, 1), at(dilations, i, 1), at(pads, i, 0), at(pads, n + i, 0)]
    }

    /// The windows of this size along axis `i` of `n`. `ceil` adds a last window that reaches beyond the
    /// padding, if it begins in the image or in the padding before it.
    pub(in crate::tf) fn span(
        &self,
        op: &'static str,
        (i, n): (usize, usize),
        len: usize,
        size: usize,
        ceil: bool,
    ) -> Result<WindowAxis, TensorError> {
        let [stride, dilation, before, after] = self.of(i, n);
        if size == 0 || stride < 1 || dilation < 1 || before < 0 || after < 0 {
            let problem = format!(
                "windows of {size} along axis {i}, stride {stride}, dilation {dilation}, pads {before} and {after}"
            );
            return invalid(op, problem);
        }
        // `len` and `size` are below 2^64, the others below 2^63, so sums and products fit i128.
        let extent = (size as i128 - 1) * i128::from(dilation) + 1;
        let padded = len as i128 + i128::from(before) + i128::from(after);
        let more = if ceil { i128::from(stride) - 1 } else { 0 };
        let mut count = (padded - extent + more).div_euclid(i128::from(stride)) + 1;
        if ceil && (count - 1) * i128::from(stride) >= len as i128 + i128::from(before) {
            count -= 1;
        }
        if count < 1 {
            return invalid(op, format!("a window of {extent} is larger than the {padded} of axis {i}"));
        }
        // Each term of a position is at most a fourth of `i64::MAX`, so sums of the terms fit i64.
        let fits = |x: i128| x <= i128::from(i64::MAX / 4);
        if ![(count - 1) * i128::from(stride), extent, padded, count].into_iter().all(fits) {
            return Err(TensorError::TooLarge);
        }
        let count = usize::try_from(count).map_err(|_| TensorError::TooLarge)?;
        Ok(WindowAxis { len, size, stride, dilation, before, after, count })
    }

    /// The windows along all axes.
    pub(in crate::tf) fn spans(
        &self,
        op: &'static str,
        dims: &[usize],
        sizes: &[usize],
        ceil: bool,
    ) -> Result<Vec<WindowAxis>, TensorError> {
        if sizes.len() != dims.len() {
            return invalid(op, format!("windows of {sizes:?} for {} axes", dims.len()));
        }
        self.expect_axes(op, dims.len())?;
        let axes = dims.iter().zip(sizes).enumerate();
        axes.map(|(i, (&len, &size))| self.span(op, (i, dims.len()), len, size, ceil)).collect()
    }
}

impl WindowAxis {
    /// The number of taps before position `end`, for a window that begins at `start`.
    fn taps_before(&self, end: i64, start: i64) -> usize {
        if end <= start { 0 } else { ((end - start - 1) / self.dilation + 1).min(self.size as i64) as usize }
    }

    /// The position of the first element of window `o`; negative in the padding.
    pub(super) fn start(&self, o: usize) -> i64 {
        o as i64 * self.stride - self.before
    }

    /// The taps of window `o` that are inside of the image.
    pub(super) fn taps(&self, o: usize) -> Range<usize> {
        let start = self.start(o);
        let end = self.taps_before(self.len as i64, start);
        self.taps_before(0, start).min(end)..end
    }

    /// The number of taps of window `o` that are inside of the image or its padding.
    pub(super) fn padded_taps(&self, o: usize) -> usize {
        self.taps_before(self.len as i64 + self.after, self.start(o))
    }

    /// The position of a tap of window `o`, which has to be inside of the image.
    pub(super) fn position(&self, o: usize, tap: usize) -> usize {
        (self.start(o) + tap as i64 * self.dilation) as usize
    }

    /// The position of tap `j` of window `o`, which may be outside of the image.
    pub(super) fn unbounded(&self, o: usize, j: usize) -> i64 {
        self.start(o) + j as i64 * self.dilation
    }

    /// The position of tap `j` of window `o`, if it is inside of the image.
    pub(super) fn inside(&self, o: usize, j: usize) -> Option<usize> {
        usize::try_from(self.unbounded(o, j)).ok().filter(|&position| position < self.len)
    }

    /// Copies tap `j` of neighbouring windows from a line of the image; `o` is the first window. Taps outside
    /// of the image are set to `outside`.
    pub(super) fn copy_taps<T: Copy>(&self, line: &[T], (o, j): (usize, usize), to: &mut [T], outside: T) {
        let windows = self.windows_of(j);
        let start = windows.start.clamp(o, o + to.len()) - o;
        let end = (windows.end.clamp(o, o + to.len()) - o).max(start);
        to[..start].fill(outside);
        to[end..].fill(outside);
        if start < end {
            let line = line[self.position(o + start, j)..].iter().step_by(self.stride as usize);
            to[start..end].iter_mut().zip(line).for_each(|(to, &x)| *to = x);
        }
    }

    /// The windows whose tap `j` is inside of the image; `j` is below the size.
    pub(super) fn windows_of(&self, j: usize) -> Range<usize> {
        // The least o with o * stride >= x.
        let least = |x: i64| if x <= 0 { 0 } else { (((x - 1) / self.stride + 1) as usize).min(self.count) };
        let shift = self.before - j as i64 * self.dilation;
        let end = least(self.len as i64 + shift);
        least(shift).min(end)..end
    }
}

/// Splits the row-major number of a window into its index along each axis, which is written to `at`. Returns
/// the number of the plane.
pub(super) fn place(spans: &[WindowAxis], mut window: usize, at: &mut [usize]) -> usize {
    for (span, at) in spans.iter().zip(at).rev() {
        *at = window % span.count;
        window /= span.count;
    }
    window
}

/// Calls `f` for each tap of window `at` that is inside of the image, until interrupted, with the row-major
/// numbers of the tap and of its position. `tap` and `position` are the numbers along the outer axes. Numbers
/// of taps wrap around for windows that are larger than any tensor.
pub(super) fn each_tap(
    spans: &[WindowAxis],
    at: &[usize],
    (tap, position): (usize, usize),
    f: &mut dyn FnMut(usize, usize),
) {
    let (Some((span, spans)), Some((&o, at))) = (spans.split_first(), at.split_first()) else {
        return f(tap, position);
    };
    for j in span.taps(o) {
        if is_interrupted() {
            return;
        }
        let inner = (tap.wrapping_mul(span.size).wrapping_add(j), position * span.len + span.position(o, j));
        each_tap(spans, at, inner, f);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Taps and windows agree with their definition.
    #[test]
    fn taps_and_windows_are_those_of_the_definition() {
        for (len, size, stride, dilation, before, after, ceil) in [
            (5, 3, 1, 1, 0, 0, false),
            (5, 3, 2, 1, 1, 1, false),
            (6, 3, 2, 1, 0, 0, true),
            (7, 2, 3, 3, 2, 4, true),
            (1, 2, 1, 2, 1, 1, false),
            (4, 9, 5, 1, 7, 7, false),
        ] {
            let steps =
                WindowSteps { strides: vec![stride], dilations: vec![dilation], pads: vec![before, after] };
            let span = steps.span("op", (0, 1), len, size, ceil).unwrap();
            let position = |o: usize, j: usize| o as i64 * stride + j as i64 * dilation - before;
            let inside = |o, j| (0..len as i64).contains(&position(o, j));
            for o in 0..span.count {
                let taps: Vec<usize> = (0..size).filter(|&j| inside(o, j)).collect();
                assert_eq!(span.taps(o).collect::<Vec<_>>(), taps, "{span:?}");
                assert!(taps.iter().all(|&j| span.position(o, j) as i64 == position(o, j)));
                let padded = (0..size).filter(|&j| position(o, j) < len as i64 + after).count();
                assert_eq!(span.padded_taps(o), padded, "{span:?}");
            }
            for j in 0..size {
                let windows: Vec<usize> = (0..span.count).filter(|&o| inside(o, j)).collect();
                assert_eq!(span.windows_of(j).collect::<Vec<_>>(), windows, "{span:?} {j}");
            }
        }
    }

    #[test]
    fn numbers_of_windows_are_onnxs() {
        let count = |len, size, stride, pads: [i64; 2], ceil| {
            let steps = WindowSteps { strides: vec![stride], dilations: vec![], pads: pads.to_vec() };
            steps.span("op", (0, 1), len, size, ceil).map(|span| span.count)
        };
        assert_eq!(count(32, 3, 1, [0, 0], false), Ok(30));
        assert_eq!(count(4, 3, 2, [0, 0], false), Ok(1));
        assert_eq!(count(4, 3, 2, [0, 0], true), Ok(2));
        // The last window would begin in the padding after the image.
        assert_eq!(count(2, 1, 2, [0, 1], true), Ok(1));
        assert!(count(2, 3, 1, [0, 0], false).is_err());
        assert!(count(0, 1, 1, [0, 0], false).is_err());
        assert!(count(1, 1, 0, [0, 0], false).is_err());
        assert!(count(1, 1, 1, [-1, 0], false).is_err());
        assert!(count(1, usize::MAX, i64::MAX, [i64::MAX, i64::MAX], false).is_err());
    }
}
