//! Damaged files are refused, or can be read and executed.

use bef_format::{AlignedBytes, FunctionKind, OperandMode, RETURN, validate};
use proptest::prelude::*;

use crate::samples;
use crate::walk::walk;
use bef_format::write::update_checksums;

/// Reads everything if the file is accepted. Returns whether it was.
fn survives(bytes: &[u8]) -> bool {
    let Ok(image) = validate(bytes) else { return false };
    walk(&image);
    bef_format::dump::dump(&image);
    for f in image.functions().filter(|f| f.kind() != FunctionKind::Native) {
        let mut waits: Vec<u32> = f.kernels().map(|k| k.ready_count()).collect();
        let mut ready: Vec<u32> = (0..f.n_kernels()).filter(|&k| waits[k as usize] == 0).collect();
        let mut any_done = vec![false; waits.len()];
        let mut publish = |register: u32, ready: &mut Vec<u32>| {
            // Uses by one kernel are adjacent; visit each kernel once, with all its uses.
            let mut users: Vec<u32> =
                f.users(register).iter().copied().filter(|&user| user != RETURN).collect();
            users.dedup();
            for user in users {
                let k = f.kernel(user);
                let uses = k.operands().iter().enumerate().filter(|&(_, &operand)| operand == register);
                let n = uses
                    .filter(|&(i, _)| {
                        is_counted(k.operand_mode(i as u32), k.is_any(), &mut any_done[user as usize])
                    })
                    .count() as u32;
                let waits = &mut waits[user as usize];
                *waits = waits.checked_sub(n).expect("more events than the ready count says");
                if n > 0 && *waits == 0 {
                    ready.push(user);
                }
            }
        };
        (0..f.n_args()).for_each(|register| publish(register, &mut ready));
        let mut n_run = 0;
        while let Some(k) = ready.pop() {
            n_run += 1;
            let k = f.kernel(k);
            (k.first_result()..k.first_result() + k.n_results())
                .for_each(|register| publish(register, &mut ready));
        }
        assert_eq!(n_run, f.n_kernels(), "every kernel runs, and once");
    }
    true
}

fn is_counted(mode: OperandMode, is_any: bool, any_done: &mut bool) -> bool {
    match mode {
        OperandMode::Order | OperandMode::After => true,
        OperandMode::Required | OperandMode::Lenient if is_any => !std::mem::replace(any_done, true),
        OperandMode::Required => true,
        OperandMode::Lenient => false,
    }
}

#[test]
fn samples_survive() {
    for (name, bytes) in samples::all() {
        assert!(survives(&bytes), "{name}");
    }
}

#[test]
fn every_changed_byte_is_refused_by_a_checksum() {
    for (name, bytes) in samples::all() {
        let payload = crate::patch::at(&bytes, bef_format::SectionId::Payload, 0);
        let mut copy = bytes.clone();
        for i in 0..bytes.len() {
            for value in [bytes[i] ^ 1, bytes[i] ^ 0x80, !bytes[i]] {
                copy[i] = value;
                let is_minor = i == 3;
                if i < payload && !is_minor {
                    assert!(validate(&copy).is_err(), "{name}: byte {i} changed to {value}");
                } else {
                    survives(&copy);
                }
            }
            copy[i] = bytes[i];
        }
    }
}

#[test]
fn every_changed_byte_survives_with_right_checksums() {
    let mut n_accepted = 0;
    for (_, bytes) in samples::all() {
        for i in 0..bytes.len() {
            for value in [
                bytes[i] ^ 1,
                bytes[i].wrapping_add(1),
                bytes[i].wrapping_sub(1),
                bytes[i] ^ 0x80,
                !bytes[i],
                0,
            ] {
                let mut copy = bytes.clone();
                copy[i] = value;
                update_checksums(&mut copy);
                n_accepted += usize::from(survives(&copy));
            }
        }
    }
    // Line numbers, letters of names, tensor elements: some edits must be accepted, or the test is vacuous.
    assert!(n_accepted > 100);
}

#[test]
fn every_truncation_is_refused() {
    for (name, bytes) in samples::all() {
        for len in 0..bytes.len() {
            let mut cut = AlignedBytes::copy_of(&bytes[..len]);
            assert!(validate(&cut).is_err(), "{name} cut to {len} bytes");
            // The same with a header of the new length.
            if len >= 64 {
                cut[8..16].copy_from_slice(&(len as u64).to_le_bytes());
                update_checksums(&mut cut);
                assert!(validate(&cut).is_err(), "{name} cut to {len} bytes, and says so");
            }
        }
        let mut longer = bytes.to_vec();
        longer.push(0);
        assert!(validate(&AlignedBytes::copy_of(&longer)).is_err(), "{name} with a byte more");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_changes_survive(
        sample in 0..4usize,
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        words in proptest::collection::vec((any::<prop::sample::Index>(), 0..40u32), 0..4),
    ) {
        let mut bytes = samples::all()[sample].1.clone();
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        for (at, value) in words {
            let at = at.index(bytes.len() / 4) * 4;
            bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
        }
        update_checksums(&mut bytes);
        survives(&bytes);
    }

    #[test]
    fn random_bytes_survive(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        survives(&AlignedBytes::copy_of(&bytes));
        let mut bytes = bytes;
        for (byte, magic) in bytes.iter_mut().zip([0x0B, 0xEF, 1, 0]) {
            *byte = magic;
        }
        survives(&AlignedBytes::copy_of(&bytes));
    }
}
