//! The update rules of optimizers, element by element.
//!
//! One pass over the variable, its slots and the gradient. f16 and bf16 are computed in f32 and rounded once.
//! Every element is computed alone and no multiplication is fused with an addition, so the bits depend
//! neither on the division of the work nor on the instruction set.

use std::ops::{Add, Div, Mul, Sub};

use half::{bf16, f16};

/// An update rule, with TensorFlow's name and meaning. Each variant lists the variable and its slots, then
/// the rates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Update {
    /// `var`; alpha.
    GradientDescent,
    /// `var, accum`; lr, momentum.
    Momentum {
        /// Nesterov's variant: the step includes the next application of the momentum.
        nesterov: bool,
    },
    /// `var, accum`, where the slot holds steps; lr, momentum.
    KerasMomentum {
        /// As for momentum.
        nesterov: bool,
    },
    /// `var, m, v`; beta1_power, beta2_power, lr, beta1, beta2, epsilon.
    Adam {
        /// As for momentum.
        nesterov: bool,
    },
    /// `var, m, v, vhat`; as Adam.
    AdamWithAmsgrad,
    /// `var, m, v`; beta1_power, lr, beta1, beta2, epsilon.
    AdaMax,
    /// `var, accum, accum_update`; lr, rho, epsilon.
    Adadelta,
    /// `var, accum`; lr and epsilon, which is 0 if there is none.
    Adagrad {
        /// True if the slot is updated.
        update_slots: bool,
    },
    /// `var, ms, mom`; lr, rho, momentum, epsilon.
    RmsProp,
    /// `var, mg, ms, mom`; lr, rho, momentum, epsilon.
    CenteredRmsProp,
    /// `var, accum, linear`; lr, l1, l2, l2_shrinkage, lr_power.
    Ftrl {
        /// True if the slot `linear` holds gradients times lr.
        multiply_linear_by_lr: bool,
    },
    /// `var, m`; lr, alpha, sign_decay, beta.
    AddSign,
    /// `var, m`; lr, logbase, sign_decay, beta.
    PowerSign,
    /// `var`; alpha, l1, l2.
    ProximalGradientDescent,
    /// `var, accum`; lr, l1, l2.
    ProximalAdagrad,
}

/// The most rates of a rule.
pub(crate) const MAX_RATES: usize = 6;

/// The most variables of a rule.
pub(crate) const MAX_STATE: usize = 4;

impl Update {
    /// The number of variables: the variable and its slots.
    pub fn n_state(self) -> usize {
        match self {
            Update::GradientDescent | Update::ProximalGradientDescent => 1,
            Update::Momentum { .. } | Update::KerasMomentum { .. } | Update::Adagrad { .. } => 2,
            Update::AddSign | Update::PowerSign | Update::ProximalAdagrad => 2,
            Update::Adam { .. } | Update::AdaMax | Update::Adadelta | Update::RmsProp => 3,
            Update::Ftrl { .. } => 3,
            Update::AdamWithAmsgrad | Update::CenteredRmsProp => 4,
        }
    }
}

/// A float type with the arithmetic of the rules.
pub(crate) trait UpdateFloat:
    Copy
    + PartialOrd
    + Send
    + Sync
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
{
    fn of(number: f64) -> Self;
    fn sqrt(self) -> Self;
    fn abs(self) -> Self;
    fn max(self, other: Self) -> Self;
    fn pow(self, other: Self) -> Self;
    fn exp(self) -> Self;
    /// -1, 0 or 1; NaN of NaN.
    fn sign(self) -> Self;
}

macro_rules! real {
    ($($ty:ident)*) => {$(
        impl UpdateFloat for $ty {
            #[inline(always)]
            fn of(number: f64) -> $ty {
                number as $ty
            }
            #[inline(always)]
            fn sqrt(self) -> $ty {
                $ty::sqrt(self)
            }
            #[inline(always)]
            fn abs(self) -> $ty {
                $ty::abs(self)
            }
            #[inline(always)]
            fn max(self, other: $ty) -> $ty {
                if self > other { self } else { other }
            }
            #[inline(always)]
            fn pow(self, other: $ty) -> $ty {
                self.powf(other)
            }
            #[inline(always)]
            fn exp(self) -> $ty {
                $ty::exp(self)
            }
            #[inline(always)]
            fn sign(self) -> $ty {
                if self > 0.0 { 1.0 } else if self < 0.0 { -1.0 } else { self }
            }
        }
    )*};
}
real!(f32 f64);

/// An element type of variables, and the type that it is computed in.
pub(crate) trait Lane: Copy + Send + Sync {
    type Wide: UpdateFloat;
    fn lift(self) -> Self::Wide;
    fn lower(wide: Self::Wide) -> Self;
}

macro_rules! lane {
    ($($ty:ident $wide:ident: $widen:expr, $narrow:expr;)*) => {$(
        impl Lane for $ty {
            type Wide = $wide;
            #[inline(always)]
            fn lift(self) -> $wide {
                $widen(self)
            }
            #[inline(always)]
            fn lower(wide: $wide) -> $ty {
                $narrow(wide)
            }
        }
    )*};
}
lane! {
    f32 f32: |x| x, |x| x;
    f64 f64: |x| x, |x| x;
    f16 f32: f16::to_f32, f16::from_f32;
    bf16 f32: bf16::to_f32, bf16::from_f32;
}

/// Defines the loop over the elements of a variable with some slots. They are separate slices of one length,
/// not an array of slices, whose bounds checks would keep the loop from being vectorized.
macro_rules! each {
    ($name:ident $n:literal $($x:ident)*) => {
        #[inline(always)]
        fn $name<T: Lane>(
            state: &mut [&mut [T]],
            grad: &[T],
            f: impl Fn([T::Wide; $n], T::Wide) -> [T::Wide; $n],
        ) {
            let [$($x),*] = state else { return };
            let n = grad.len()$(.min($x.len()))*;
            $(let $x = &mut $x[..n];)*
            for (i, grad) in grad[..n].iter().enumerate() {
                let new = f([$($x[i].lift()),*], grad.lift());
                let mut new = new.into_iter();
                $(if let Some(new) = new.next() {
                    $x[i] = T::lower(new);
                })*
            }
        }
    };
}
each!(each_one 1 x);
each!(each_two 2 x a);
each!(each_three 3 x a b);
each!(each_four 4 x a b c);

/// Updates elements of the variable and its slots by the same number of elements of a gradient.
#[inline(always)]
#[allow(clippy::too_many_lines, reason = "a table of rules")]
pub(crate) fn update<T: Lane>(rule: Update, r: &[T::Wide; MAX_RATES], state: &mut [&mut [T]], grad: &[T]) {
    let one = <T::Wide>::of(1.0);
    let zero = <T::Wide>::of(0.0);
    match rule {
        Update::GradientDescent => each_one(state, grad, |[x], g| [x.sub(r[0].mul(g))]),
        Update::Momentum { nesterov } => {
            let [lr, momentum] = [r[0], r[1]];
            let ahead = lr.mul(momentum);
            each_two(state, grad, |[x, a], g| {
                let a = a.mul(momentum).add(g);
                [if nesterov { x.sub(g.mul(lr).add(a.mul(ahead))) } else { x.sub(a.mul(lr)) }, a]
            });
        }
        Update::KerasMomentum { nesterov } => {
            let [lr, momentum] = [r[0], r[1]];
            each_two(state, grad, |[x, a], g| {
                let a = a.mul(momentum).sub(g.mul(lr));
                [x.add(if nesterov { a.mul(momentum).sub(g.mul(lr)) } else { a }), a]
            });
        }
        Update::Adam { nesterov } => {
            let [power1, power2, lr, beta1, beta2, epsilon] = *r;
            let alpha = lr.mul(one.sub(power2).sqrt()).div(one.sub(power1));
            let [by1, by2] = [one.sub(beta1), one.sub(beta2)];
            each_three(state, grad, |[x, m, v], g| {
                let m = m.add(g.sub(m).mul(by1));
                let v = v.add(g.mul(g).sub(v).mul(by2));
                let step = if nesterov { g.mul(by1).add(beta1.mul(m)) } else { m };
                [x.sub(step.mul(alpha).div(v.sqrt().add(epsilon))), m, v]
            });
        }
        Update::AdamWithAmsgrad => {
            let [power1, power2, lr, beta1, beta2, epsilon] = *r;
            let alpha = lr.mul(one.sub(power2).sqrt()).div(one.sub(power1));
            let [by1, by2] = [one.sub(beta1), one.sub(beta2)];
            each_four(state, grad, |[x, m, v, most], g| {
                let m = m.add(g.sub(m).mul(by1));
                let v = v.add(g.mul(g).sub(v).mul(by2));
                let most = v.max(most);
                [x.sub(m.mul(alpha).div(most.sqrt().add(epsilon))), m, v, most]
            });
        }
        Update::AdaMax => {
            let [power1, lr, beta1, beta2, epsilon, _] = *r;
            let rate = lr.div(one.sub(power1));
            let by = one.sub(beta1);
            each_three(state, grad, |[x, m, v], g| {
                let m = m.add(g.sub(m).mul(by));
                let v = beta2.mul(v).max(g.abs());
                [x.sub(rate.mul(m.div(v.add(epsilon)))), m, v]
            });
        }
        Update::Adadelta => {
            let [lr, rho, epsilon] = [r[0], r[1], r[2]];
            let by = one.sub(rho);
            each_three(state, grad, |[x, a, u], g| {
                let a = a.mul(rho).add(g.mul(g).mul(by));
                let step = u.add(epsilon).sqrt().div(a.add(epsilon).sqrt()).mul(g);
                [x.sub(step.mul(lr)), a, u.mul(rho).add(step.mul(step).mul(by))]
            });
        }
        Update::Adagrad { update_slots } => {
            let [lr, epsilon] = [r[0], r[1]];
            each_two(state, grad, |[x, a], g| {
                let a = if update_slots { a.add(g.mul(g)) } else { a };
                [x.sub(g.mul(lr).div(a.sqrt().add(epsilon))), a]
            });
        }
        Update::RmsProp => {
            let [lr, rho, momentum, epsilon] = [r[0], r[1], r[2], r[3]];
            let by = one.sub(rho);
            each_three(state, grad, |[x, ms, mom], g| {
                let ms = ms.add(g.mul(g).sub(ms).mul(by));
                let mom = mom.mul(momentum).add(g.mul(lr).div(ms.add(epsilon).sqrt()));
                [x.sub(mom), ms, mom]
            });
        }
        Update::CenteredRmsProp => {
            let [lr, rho, momentum, epsilon] = [r[0], r[1], r[2], r[3]];
            let by = one.sub(rho);
            each_four(state, grad, |[x, mg, ms, mom], g| {
                let ms = ms.add(g.mul(g).sub(ms).mul(by));
                let mg = mg.add(g.sub(mg).mul(by));
                let spread = ms.sub(mg.mul(mg)).add(epsilon);
                let mom = mom.mul(momentum).add(g.mul(lr).div(spread.sqrt()));
                [x.sub(mom), mg, ms, mom]
            });
        }
        Update::Ftrl { multiply_linear_by_lr } => {
            let [lr, l1, l2, shrinkage, power, _] = *r;
            let two = <T::Wide>::of(2.0);
            let is_root = power == <T::Wide>::of(-0.5);
            let raised = |x: T::Wide| if is_root { x.sqrt() } else { x.pow(zero.sub(power)) };
            let by = if multiply_linear_by_lr { lr } else { one };
            let over = if multiply_linear_by_lr { one } else { lr };
            each_three(state, grad, |[x, a, linear], g| {
                let shrunk = g.add(two.mul(shrinkage).mul(x));
                let next = a.add(g.mul(g));
                let sigma = raised(next).sub(raised(a)).div(over);
                let linear = linear.add(shrunk.mul(by).sub(sigma.mul(x)));
                let bound = l1.mul(by);
                let quadratic = raised(next).div(over).add(two.mul(l2).mul(by));
                let x = if linear.abs() > bound {
                    bound.mul(linear.sign()).sub(linear).div(quadratic)
                } else {
                    zero
                };
                [x, next, linear]
            });
        }
        Update::AddSign => {
            let [lr, alpha, decay, beta] = [r[0], r[1], r[2], r[3]];
            let by = one.sub(beta);
            each_two(state, grad, |[x, m], g| {
                let m = m.mul(beta).add(g.mul(by));
                let sign = g.sign().mul(m.sign());
                [x.sub(lr.mul(alpha.add(decay.mul(sign))).mul(g)), m]
            });
        }
        Update::PowerSign => {
            let [lr, base, decay, beta] = [r[0], r[1], r[2], r[3]];
            let by = one.sub(beta);
            each_two(state, grad, |[x, m], g| {
                let m = m.mul(beta).add(g.mul(by));
                let sign = g.sign().mul(m.sign());
                [x.sub(lr.mul(base.mul(decay).mul(sign).exp()).mul(g)), m]
            });
        }
        Update::ProximalGradientDescent => {
            let [alpha, l1, l2] = [r[0], r[1], r[2]];
            each_one(state, grad, |[x], g| [proximal(x.sub(g.mul(alpha)), alpha, l1, l2)]);
        }
        Update::ProximalAdagrad => {
            let [lr, l1, l2] = [r[0], r[1], r[2]];
            each_two(state, grad, |[x, a], g| {
                let a = a.add(g.mul(g));
                let rate = lr.div(a.sqrt());
                [proximal(x.sub(g.mul(rate)), rate, l1, l2), a]
            });
        }
    }
}

/// The proximal operator of `l1` and `l2`.
#[inline(always)]
fn proximal<R: UpdateFloat>(x: R, rate: R, l1: R, l2: R) -> R {
    let zero = R::of(0.0);
    let shrunk = if l1 > zero { x.sign().mul(x.abs().sub(rate.mul(l1)).max(zero)) } else { x };
    shrunk.div(R::of(1.0).add(rate.mul(l2)))
}
