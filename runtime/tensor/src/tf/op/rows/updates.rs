//! Updates of variables by optimizers.

use super::super::row::update;
use super::operators::operators;

operators! { 20:
    /// A step of AdaMax on a reference variable.
    ApplyAdaMax
        "var:Ref(T) m:Ref(T) v:Ref(T) beta1_power:T lr:T beta1:T beta2:T epsilon:T grad:T -> out:Ref(T); \
         T:type use_locking:bool=false"
        => update();
    /// A step of Adadelta on a reference variable.
    ApplyAdadelta
        "var:Ref(T) accum:Ref(T) accum_update:Ref(T) lr:T rho:T epsilon:T grad:T -> out:Ref(T); T:type \
         use_locking:bool=false"
        => update();
    /// A step of Adagrad on a reference variable.
    ApplyAdagrad
        "var:Ref(T) accum:Ref(T) lr:T grad:T -> out:Ref(T); T:type update_slots:bool=true \
         use_locking:bool=false"
        => update();
    /// A step of Adagrad with an epsilon on a reference variable.
    ApplyAdagradV2
        "var:Ref(T) accum:Ref(T) lr:T epsilon:T grad:T -> out:Ref(T); T:type update_slots:bool=true \
         use_locking:bool=false"
        => update();
    /// A step of Adam on a reference variable.
    ApplyAdam
        "var:Ref(T) m:Ref(T) v:Ref(T) beta1_power:T beta2_power:T lr:T beta1:T beta2:T epsilon:T grad:T \
         -> out:Ref(T); T:type use_locking:bool=false use_nesterov:bool=false"
        => update();
    /// A step of AddSign on a reference variable.
    ApplyAddSign
        "var:Ref(T) m:Ref(T) lr:T alpha:T sign_decay:T beta:T grad:T -> out:Ref(T); T:type \
         use_locking:bool=false"
        => update();
    /// A step of centered RMSProp on a reference variable.
    ApplyCenteredRMSProp
        "var:Ref(T) mg:Ref(T) ms:Ref(T) mom:Ref(T) lr:T rho:T momentum:T epsilon:T grad:T -> out:Ref(T); \
         T:type use_locking:bool=false"
        => update();
    /// A step of FTRL on a reference variable.
    ApplyFtrl
        "var:Ref(T) accum:Ref(T) linear:Ref(T) grad:T lr:T l1:T l2:T lr_power:T -> out:Ref(T); T:type \
         multiply_linear_by_lr:bool=false use_locking:bool=false"
        => update();
    /// A step of FTRL with shrinkage on a reference variable.
    ApplyFtrlV2
        "var:Ref(T) accum:Ref(T) linear:Ref(T) grad:T lr:T l1:T l2:T l2_shrinkage:T lr_power:T -> \
         out:Ref(T); T:type multiply_linear_by_lr:bool=false use_locking:bool=false"
        => update();
    /// A step of gradient descent on a reference variable.
    ApplyGradientDescent "var:Ref(T) alpha:T delta:T -> out:Ref(T); T:type use_locking:bool=false"
        => update();
    /// A step of gradient descent with momentum on a reference variable.
    ApplyMomentum
        "var:Ref(T) accum:Ref(T) lr:T grad:T momentum:T -> out:Ref(T); T:type use_locking:bool=false \
         use_nesterov:bool=false"
        => update();
    /// A step of PowerSign on a reference variable.
    ApplyPowerSign
        "var:Ref(T) m:Ref(T) lr:T logbase:T sign_decay:T beta:T grad:T -> out:Ref(T); T:type \
         use_locking:bool=false"
        => update();
    /// A step of proximal Adagrad on a reference variable.
    ApplyProximalAdagrad
        "var:Ref(T) accum:Ref(T) lr:T l1:T l2:T grad:T -> out:Ref(T); T:type use_locking:bool=false"
        => update();
    /// A step of proximal gradient descent on a reference variable.
    ApplyProximalGradientDescent
        "var:Ref(T) alpha:T l1:T l2:T delta:T -> out:Ref(T); T:type use_locking:bool=false"
        => update();
    /// A step of RMSProp on a reference variable.
    ApplyRMSProp
        "var:Ref(T) ms:Ref(T) mom:Ref(T) lr:T rho:T momentum:T epsilon:T grad:T -> out:Ref(T); T:type \
         use_locking:bool=false"
        => update();
    /// A step of AdaMax on a variable.
    ResourceApplyAdaMax
        "!var:resource m:resource v:resource beta1_power:T lr:T beta1:T beta2:T epsilon:T grad:T ->; \
         T:type use_locking:bool=false"
        => update();
    /// A step of Adadelta on a variable.
    ResourceApplyAdadelta
        "!var:resource accum:resource accum_update:resource lr:T rho:T epsilon:T grad:T ->; T:type \
         use_locking:bool=false"
        => update();
    /// A step of Adagrad on a variable.
    ResourceApplyAdagrad
        "!var:resource accum:resource lr:T grad:T ->; T:type update_slots:bool=true use_locking:bool=false"
        => update();
    /// A step of Adagrad with an epsilon on a variable.
    ResourceApplyAdagradV2
        "!var:resource accum:resource lr:T epsilon:T grad:T ->; T:type update_slots:bool=true \
         use_locking:bool=false"
        => update();
    /// A step of Adam on a variable.
    ResourceApplyAdam
        "!var:resource m:resource v:resource beta1_power:T beta2_power:T lr:T beta1:T beta2:T epsilon:T \
         grad:T ->; T:type use_locking:bool=false use_nesterov:bool=false"
        => update();
    /// A step of Adam with the largest second moment on a variable.
    ResourceApplyAdamWithAmsgrad
        "!var:resource m:resource v:resource vhat:resource beta1_power:T beta2_power:T lr:T beta1:T \
         beta2:T epsilon:T grad:T ->; T:type use_locking:bool=false"
        => update();
    /// A step of AddSign on a variable.
    ResourceApplyAddSign
        "!var:resource m:resource lr:T alpha:T sign_decay:T beta:T grad:T ->; T:type \
         use_locking:bool=false"
        => update();
    /// A step of centered RMSProp on a variable.
    ResourceApplyCenteredRMSProp
        "!var:resource mg:resource ms:resource mom:resource lr:T rho:T momentum:T epsilon:T grad:T ->; \
         T:type use_locking:bool=false"
        => update();
    /// A step of FTRL on a variable.
    ResourceApplyFtrl
        "!var:resource accum:resource linear:resource grad:T lr:T l1:T l2:T lr_power:T ->; T:type \
         multiply_linear_by_lr:bool=false use_locking:bool=false"
        => update();
    /// A step of FTRL with shrinkage on a variable.
    ResourceApplyFtrlV2
        "!var:resource accum:resource linear:resource grad:T lr:T l1:T l2:T l2_shrinkage:T lr_power:T ->; \
         T:type multiply_linear_by_lr:bool=false use_locking:bool=false"
        => update();
    /// A step of gradient descent on a variable.
    ResourceApplyGradientDescent "!var:resource alpha:T delta:T ->; T:type use_locking:bool=false"
        => update();
    /// A step of gradient descent with Keras's momentum on a variable.
    ResourceApplyKerasMomentum
        "!var:resource accum:resource lr:T grad:T momentum:T ->; T:type use_locking:bool=false \
         use_nesterov:bool=false"
        => update();
    /// A step of gradient descent with momentum on a variable.
    ResourceApplyMomentum
        "!var:resource accum:resource lr:T grad:T momentum:T ->; T:type use_locking:bool=false \
         use_nesterov:bool=false"
        => update();
    /// A step of PowerSign on a variable.
    ResourceApplyPowerSign
        "!var:resource m:resource lr:T logbase:T sign_decay:T beta:T grad:T ->; T:type \
         use_locking:bool=false"
        => update();
    /// A step of proximal Adagrad on a variable.
    ResourceApplyProximalAdagrad
        "!var:resource accum:resource lr:T l1:T l2:T grad:T ->; T:type use_locking:bool=false"
        => update();
    /// A step of proximal gradient descent on a variable.
    ResourceApplyProximalGradientDescent
        "!var:resource alpha:T l1:T l2:T delta:T ->; T:type use_locking:bool=false"
        => update();
    /// A step of RMSProp on a variable.
    ResourceApplyRMSProp
        "!var:resource ms:resource mom:resource lr:T rho:T momentum:T epsilon:T grad:T ->; T:type \
         use_locking:bool=false"
        => update();
    /// A step of Adadelta on rows of a variable.
    ResourceSparseApplyAdadelta
        "!var:resource accum:resource accum_update:resource lr:T rho:T epsilon:T grad:T indices:Tindices \
         ->; T:type Tindices:type use_locking:bool=false"
        => update();
    /// A step of Adagrad on rows of a variable.
    ResourceSparseApplyAdagrad
        "!var:resource accum:resource lr:T grad:T indices:Tindices ->; T:type Tindices:type \
         update_slots:bool=true use_locking:bool=false"
        => update();
    /// A step of Adagrad with an epsilon on rows of a variable.
    ResourceSparseApplyAdagradV2
        "!var:resource accum:resource lr:T epsilon:T grad:T indices:Tindices ->; T:type Tindices:type \
         update_slots:bool=true use_locking:bool=false"
        => update();
    /// A step of centered RMSProp on rows of a variable.
    ResourceSparseApplyCenteredRMSProp
        "!var:resource mg:resource ms:resource mom:resource lr:T rho:T momentum:T epsilon:T grad:T \
         indices:Tindices ->; T:type Tindices:type use_locking:bool=false"
        => update();
    /// A step of FTRL on rows of a variable.
    ResourceSparseApplyFtrl
        "!var:resource accum:resource linear:resource grad:T indices:Tindices lr:T l1:T l2:T lr_power:T \
         ->; T:type Tindices:type multiply_linear_by_lr:bool=false use_locking:bool=false"
        => update();
    /// A step of FTRL with shrinkage on rows of a variable.
    ResourceSparseApplyFtrlV2
        "!var:resource accum:resource linear:resource grad:T indices:Tindices lr:T l1:T l2:T \
         l2_shrinkage:T lr_power:T ->; T:type Tindices:type multiply_linear_by_lr:bool=false \
         use_locking:bool=false"
        => update();
    /// A step of gradient descent with Keras's momentum on rows of a variable.
    ResourceSparseApplyKerasMomentum
        "!var:resource accum:resource lr:T grad:T indices:Tindices momentum:T ->; T:type Tindices:type \
         use_locking:bool=false use_nesterov:bool=false"
        => update();
    /// A step of gradient descent with momentum on rows of a variable.
    ResourceSparseApplyMomentum
        "!var:resource accum:resource lr:T grad:T indices:Tindices momentum:T ->; T:type Tindices:type \
         use_locking:bool=false use_nesterov:bool=false"
        => update();
    /// A step of proximal Adagrad on rows of a variable.
    ResourceSparseApplyProximalAdagrad
        "!var:resource accum:resource lr:T l1:T l2:T grad:T indices:Tindices ->; T:type Tindices:type \
         use_locking:bool=false"
        => update();
    /// A step of proximal gradient descent on rows of a variable.
    ResourceSparseApplyProximalGradientDescent
        "!var:resource alpha:T l1:T l2:T grad:T indices:Tindices ->; T:type Tindices:type \
         use_locking:bool=false"
        => update();
    /// A step of RMSProp on rows of a variable.
    ResourceSparseApplyRMSProp
        "!var:resource ms:resource mom:resource lr:T rho:T momentum:T epsilon:T grad:T indices:Tindices \
         ->; T:type Tindices:type use_locking:bool=false"
        => update();
    /// A step of Adadelta on rows of a reference variable.
    SparseApplyAdadelta
        "var:Ref(T) accum:Ref(T) accum_update:Ref(T) lr:T rho:T epsilon:T grad:T indices:Tindices -> \
         out:Ref(T); T:type Tindices:type use_locking:bool=false"
        => update();
    /// A step of Adagrad on rows of a reference variable.
    SparseApplyAdagrad
        "var:Ref(T) accum:Ref(T) lr:T grad:T indices:Tindices -> out:Ref(T); T:type Tindices:type \
         update_slots:bool=true use_locking:bool=false"
        => update();
    /// A step of Adagrad with an epsilon on rows of a reference variable.
    SparseApplyAdagradV2
        "var:Ref(T) accum:Ref(T) lr:T epsilon:T grad:T indices:Tindices -> out:Ref(T); T:type \
         Tindices:type update_slots:bool=true use_locking:bool=false"
        => update();
    /// A step of centered RMSProp on rows of a reference variable.
    SparseApplyCenteredRMSProp
        "var:Ref(T) mg:Ref(T) ms:Ref(T) mom:Ref(T) lr:T rho:T momentum:T epsilon:T grad:T \
         indices:Tindices -> out:Ref(T); T:type Tindices:type use_locking:bool=false"
        => update();
    /// A step of FTRL on rows of a reference variable.
    SparseApplyFtrl
        "var:Ref(T) accum:Ref(T) linear:Ref(T) grad:T indices:Tindices lr:T l1:T l2:T lr_power:T -> \
         out:Ref(T); T:type Tindices:type multiply_linear_by_lr:bool=false use_locking:bool=false"
        => update();
    /// A step of FTRL with shrinkage on rows of a reference variable.
    SparseApplyFtrlV2
        "var:Ref(T) accum:Ref(T) linear:Ref(T) grad:T indices:Tindices lr:T l1:T l2:T l2_shrinkage:T \
         lr_power:T -> out:Ref(T); T:type Tindices:type multiply_linear_by_lr:bool=false \
         use_locking:bool=false"
        => update();
    /// A step of gradient descent with momentum on rows of a reference variable.
    SparseApplyMomentum
        "var:Ref(T) accum:Ref(T) lr:T grad:T indices:Tindices momentum:T -> out:Ref(T); T:type \
         Tindices:type use_locking:bool=false use_nesterov:bool=false"
        => update();
    /// A step of proximal Adagrad on rows of a reference variable.
    SparseApplyProximalAdagrad
        "var:Ref(T) accum:Ref(T) lr:T l1:T l2:T grad:T indices:Tindices -> out:Ref(T); T:type \
         Tindices:type use_locking:bool=false"
        => update();
    /// A step of proximal gradient descent on rows of a reference variable.
    SparseApplyProximalGradientDescent
        "var:Ref(T) alpha:T l1:T l2:T grad:T indices:Tindices -> out:Ref(T); T:type Tindices:type \
         use_locking:bool=false"
        => update();
    /// A step of RMSProp on rows of a reference variable.
    SparseApplyRMSProp
        "var:Ref(T) ms:Ref(T) mom:Ref(T) lr:T rho:T momentum:T epsilon:T grad:T indices:Tindices -> \
         out:Ref(T); T:type Tindices:type use_locking:bool=false"
        => update();
    /// A step of Adam by the gradient of some rows of a variable. Of the other rows it is 0, and they change
    /// as well.
    _ResourceSparseApplyAdam
        "!var:resource m:resource v:resource beta1_power:T beta2_power:T lr:T beta1:T beta2:T epsilon:T \
         grad:T indices:Tindices ->; T:type Tindices:type use_locking:bool=false use_nesterov:bool=false"
        => update();
}
