//! FarmHash's 64-bit fingerprint (Pike, Alakuijala): the hash of TensorFlow's hash buckets.

const K0: u64 = 0xc3a5_c85c_97cb_3127;
const K1: u64 = 0xb492_b66f_be98_f273;
const K2: u64 = 0x9ae1_6a3b_2f90_404f;

/// The `N` bytes from a position on; those beyond the end are 0.
fn bytes<const N: usize>(s: &[u8], at: usize) -> [u8; N] {
    let mut found = [0; N];
    let rest = s.get(at..).unwrap_or_default();
    let n = rest.len().min(N);
    found[..n].copy_from_slice(&rest[..n]);
    found
}

fn word(s: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes(s, at))
}

fn half(s: &[u8], at: usize) -> u64 {
    u32::from_le_bytes(bytes(s, at)).into()
}

fn mixed(x: u64) -> u64 {
    x ^ x >> 47
}

/// Two numbers hashed with a multiplier.
fn joined(u: u64, v: u64, by: u64) -> u64 {
    let a = mixed((u ^ v).wrapping_mul(by));
    mixed((v ^ a).wrapping_mul(by)).wrapping_mul(by)
}

/// 32 bytes hashed with two seeds, fast and weakly.
fn weak(s: &[u8], at: usize, a: u64, b: u64) -> (u64, u64) {
    let [w, x, y, z] = [0, 8, 16, 24].map(|i| word(s, at + i));
    let a = a.wrapping_add(w);
    let b = b.wrapping_add(a).wrapping_add(z).rotate_right(21);
    let sum = a.wrapping_add(x).wrapping_add(y);
    (sum.wrapping_add(z), b.wrapping_add(sum.rotate_right(44)).wrapping_add(a))
}

/// The fingerprint of two fingerprints in this order.
pub fn fingerprint_cat64(first: u64, second: u64) -> u64 {
    const BY: u64 = 0xc6a4_a793_5bd1_e995;
    let sum = (first ^ BY ^ mixed(second.wrapping_mul(BY)).wrapping_mul(BY)).wrapping_mul(BY);
    mixed(mixed(sum).wrapping_mul(BY))
}

/// The fingerprint of a byte string.
pub fn fingerprint64(s: &[u8]) -> u64 {
    let len = s.len();
    match len {
        0..=16 => short(s),
        17..=32 => {
            let by = K2.wrapping_add(2 * len as u64);
            let (a, b) = (word(s, 0).wrapping_mul(K1), word(s, 8));
            let (c, d) = (word(s, len - 8).wrapping_mul(by), word(s, len - 16).wrapping_mul(K2));
            let u = a.wrapping_add(b).rotate_right(43).wrapping_add(c.rotate_right(30)).wrapping_add(d);
            joined(u, a.wrapping_add(b.wrapping_add(K2).rotate_right(18)).wrapping_add(c), by)
        }
        33..=64 => {
            let by = K2.wrapping_add(2 * len as u64);
            let (a, b) = (word(s, 0).wrapping_mul(K2), word(s, 8));
            let (c, d) = (word(s, len - 8).wrapping_mul(by), word(s, len - 16).wrapping_mul(K2));
            let y = a.wrapping_add(b).rotate_right(43).wrapping_add(c.rotate_right(30)).wrapping_add(d);
            let z = joined(y, a.wrapping_add(b.wrapping_add(K2).rotate_right(18)).wrapping_add(c), by);
            let (e, f) = (word(s, 16).wrapping_mul(by), word(s, 24));
            let g = y.wrapping_add(word(s, len - 32)).wrapping_mul(by);
            let h = z.wrapping_add(word(s, len - 24)).wrapping_mul(by);
            let u = e.wrapping_add(f).rotate_right(43).wrapping_add(g.rotate_right(30)).wrapping_add(h);
            joined(u, e.wrapping_add(f.wrapping_add(a).rotate_right(18)).wrapping_add(g), by)
        }
        _ => long(s),
    }
}

fn short(s: &[u8]) -> u64 {
    let len = s.len();
    let by = K2.wrapping_add(2 * len as u64);
    match len {
        8.. => {
            let (a, b) = (word(s, 0).wrapping_add(K2), word(s, len - 8));
            let c = b.rotate_right(37).wrapping_mul(by).wrapping_add(a);
            joined(c, a.rotate_right(25).wrapping_add(b).wrapping_mul(by), by)
        }
        4.. => joined((len as u64).wrapping_add(half(s, 0) << 3), half(s, len - 4), by),
        1.. => {
            let [a, b, c] = [s[0], s[len >> 1], s[len - 1]].map(u64::from);
            let (y, z) = (a + (b << 8), len as u64 + (c << 2));
            mixed(y.wrapping_mul(K2) ^ z.wrapping_mul(K0)).wrapping_mul(K2)
        }
        0 => K2,
    }
}

/// The fingerprint of more than 64 bytes: blocks of 64, of which the last two may overlap.
fn long(s: &[u8]) -> u64 {
    let seed = 81u64;
    let (mut v, mut w) = ((0u64, 0u64), (0u64, 0u64));
    let mut y = seed.wrapping_mul(K1).wrapping_add(113);
    let mut z = mixed(y.wrapping_mul(K2).wrapping_add(113)).wrapping_mul(K2);
    let mut x = seed.wrapping_mul(K2).wrapping_add(word(s, 0));
    let n_blocks = (s.len() - 1) / 64;
    for at in (0..n_blocks).map(|i| 64 * i) {
        x = x
            .wrapping_add(y)
            .wrapping_add(v.0)
            .wrapping_add(word(s, at + 8))
            .rotate_right(37)
            .wrapping_mul(K1);
        y = y.wrapping_add(v.1).wrapping_add(word(s, at + 48)).rotate_right(42).wrapping_mul(K1);
        x ^= w.1;
        y = y.wrapping_add(v.0).wrapping_add(word(s, at + 40));
        z = z.wrapping_add(w.0).rotate_right(33).wrapping_mul(K1);
        v = weak(s, at, v.1.wrapping_mul(K1), x.wrapping_add(w.0));
        w = weak(s, at + 32, z.wrapping_add(w.1), y.wrapping_add(word(s, at + 16)));
        (x, z) = (z, x);
    }
    let by = K1.wrapping_add((z & 0xff) << 1);
    let at = s.len() - 64;
    w.0 = w.0.wrapping_add((s.len() as u64 - 1) & 63);
    v.0 = v.0.wrapping_add(w.0);
    w.0 = w.0.wrapping_add(v.0);
    x = x.wrapping_add(y).wrapping_add(v.0).wrapping_add(word(s, at + 8)).rotate_right(37).wrapping_mul(by);
    y = y.wrapping_add(v.1).wrapping_add(word(s, at + 48)).rotate_right(42).wrapping_mul(by);
    x ^= w.1.wrapping_mul(9);
    y = y.wrapping_add(v.0.wrapping_mul(9)).wrapping_add(word(s, at + 40));
    z = z.wrapping_add(w.0).rotate_right(33).wrapping_mul(by);
    v = weak(s, at, v.1.wrapping_mul(by), x.wrapping_add(w.0));
    w = weak(s, at + 32, z.wrapping_add(w.1), y.wrapping_add(word(s, at + 16)));
    (x, z) = (z, x);
    let left = joined(v.0, w.0, by).wrapping_add(mixed(y).wrapping_mul(K0)).wrapping_add(z);
    joined(left, joined(v.1, w.1, by).wrapping_add(x), by)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values are those of TensorFlow's `Fingerprint`, for every path.
    #[test]
    fn fingerprints_are_those_of_tensorflow() {
        let text: Vec<u8> = (0..200u32).map(|i| (i * 7 % 251) as u8).collect();
        for (len, want) in WANT {
            assert_eq!(fingerprint64(&text[..len]), want, "{len}");
        }
    }

    const WANT: [(usize, u64); 12] = [
        (0, 0x9ae1_6a3b_2f90_404f),
        (1, 0xbe60_56ed_f5e9_4b54),
        (3, 0x6cc1_a093_e822_4428),
        (5, 0x1f3e_6f55_ef27_2bcf),
        (8, 0xdc48_0bbc_e8c7_37a7),
        (16, 0xfbb2_7403_1996_2d9b),
        (17, 0xa55b_9970_b7b7_0074),
        (32, 0x0a9d_86aa_8d37_da5c),
        (33, 0xfb43_f626_c43b_2047),
        (64, 0x7cec_12be_5a09_4ef5),
        (65, 0xa9e1_02fc_180d_fffc),
        (200, 0xd1b5_c8fb_f733_4565),
    ];
}
