//! The random bits of TensorFlow's generators: Philox 4x32, 10 rounds (Salmon et al., 2011).
//!
//! A block of four words is a function of a 128-bit counter and a 64-bit key; the next block has the next
//! counter. So access to any position of the stream takes constant time, and blocks can be computed in any
//! order.

/// The number of words in a block.
pub(super) const WORDS: usize = 4;

/// A position in a stream of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Philox {
    counter: u128,
    key: u64,
}

impl Philox {
    /// The stream of a stateful operator with these seeds.
    pub fn seeded(seed: u64, seed2: u64) -> Philox {
        Philox { counter: u128::from(seed2) << 64, key: seed }
    }

    /// The stream with this key, at this counter, low half first.
    pub fn at([low, high]: [u64; 2], key: u64) -> Philox {
        Philox { counter: u128::from(high) << 64 | u128::from(low), key }
    }

    /// The stream of a stateless operator with these seeds. The seeds are mixed, so that similar seeds have
    /// unrelated streams.
    pub fn scrambled(seed: [u64; 2]) -> Philox {
        let [a, b, c, d] = Philox::at(seed, 0x0246_1e29_3ec8_f720).block(0);
        Philox { counter: u128::from(pair(c, d)) << 64, key: pair(a, b) }
    }

    /// The key.
    pub fn key(&self) -> u64 {
        self.key
    }

    /// The counter, low half first.
    pub fn counter(&self) -> [u64; 2] {
        [self.counter as u64, (self.counter >> 64) as u64]
    }

    /// The position `blocks` further.
    pub fn skipped(self, blocks: u64) -> Philox {
        Philox { counter: self.counter.wrapping_add(u128::from(blocks)), ..self }
    }

    /// The first 64 bits of the block at this position, the first word low.
    pub fn bits(&self) -> u64 {
        let [low, high, ..] = self.block(0);
        pair(low, high)
    }

    /// The block `ahead` blocks after this position.
    pub(super) fn block(&self, ahead: u64) -> [u32; WORDS] {
        let counter = self.skipped(ahead).counter;
        let mut words = [0, 32, 64, 96].map(|shift| (counter >> shift) as u32);
        let mut key = [self.key as u32, (self.key >> 32) as u32];
        for _ in 0..10 {
            let (a, b) = (0xd251_1f53 * u64::from(words[0]), 0xcd9e_8d57 * u64::from(words[2]));
            words = [
                (b >> 32) as u32 ^ words[1] ^ key[0],
                b as u32,
                (a >> 32) as u32 ^ words[3] ^ key[1],
                a as u32,
            ];
            key = [key[0].wrapping_add(0x9e37_79b9), key[1].wrapping_add(0xbb67_ae85)];
        }
        words
    }

    /// The words from this position on, one by one.
    pub(super) fn words(self) -> Words {
        Words { next: self, block: [0; WORDS], used: WORDS }
    }
}

/// Two words as one, low half first.
pub(super) fn pair(low: u32, high: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

/// The words of a stream, one by one.
pub(super) struct Words {
    next: Philox,
    block: [u32; WORDS],
    used: usize,
}

impl Words {
    pub(super) fn next(&mut self) -> u32 {
        if self.used == WORDS {
            self.block = self.next.block(0);
            self.next = self.next.skipped(1);
            self.used = 0;
        }
        self.used += 1;
        self.block[self.used - 1]
    }

    /// The next two words as a number in [0, 1).
    pub(super) fn next_double(&mut self) -> f64 {
        let (high, low) = (self.next(), self.next());
        unit_f64(high, low)
    }
}

/// The number in [0, 1) whose fraction bits are the lowest 23 bits of a word.
pub(super) fn unit_f32(bits: u32) -> f32 {
    f32::from_bits(1.0f32.to_bits() | bits & 0x7f_ffff) - 1.0
}

/// The number in [0, 1) whose fraction bits are the lowest 20 bits of `high`, then the bits of `low`.
pub(super) fn unit_f64(high: u32, low: u32) -> f64 {
    f64::from_bits(1.0f64.to_bits() | pair(low, high & 0xf_ffff)) - 1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The vectors of the authors' `kat_vectors` for philox4x32-10.
    #[test]
    fn blocks_are_those_of_the_authors() {
        let zero = Philox::at([0, 0], 0);
        assert_eq!(zero.block(0), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        let ones = Philox::at([u64::MAX, u64::MAX], u64::MAX);
        assert_eq!(ones.block(0), [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
        let pi = Philox::at([0x85a3_08d3_243f_6a88, 0x0370_7344_1319_8a2e], 0x299f_31d0_a409_3822);
        assert_eq!(pi.block(0), [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]);
        assert_eq!(ones.block(1), Philox::at([0, 0], u64::MAX).block(0));
    }

    #[test]
    fn words_are_those_of_the_blocks() {
        let stream = Philox::scrambled([1, 2]);
        let mut words = stream.words();
        let taken: Vec<u32> = (0..9).map(|_| words.next()).collect();
        assert_eq!(taken[4..8], stream.block(1));
        assert_eq!(taken[8], stream.skipped(2).block(0)[0]);
        assert_eq!((unit_f32(0), unit_f64(0, 1 << 31)), (0.0, 2f64.powi(-21)));
        assert!(unit_f32(u32::MAX) < 1.0 && unit_f64(u32::MAX, u32::MAX) < 1.0);
    }
}
