//! Generated cases of a move.

use proptest::prelude::*;

use crate::conformance::{command::Command, generate, lab};

/// Commands, some of them before a move and some after it.
#[derive(Clone, Debug)]
pub(super) struct Case {
    pub(super) commands: Vec<Command>,
    /// When the store moves, in 256ths of the commands.
    pub(super) moves_at: u8,
    /// How many records a page and a batch have.
    pub(super) page: u16,
    pub(super) batch: usize,
    /// Which record a law is about, of so many.
    pub(super) pick: u8,
}

impl Case {
    /// How many of the calls come before the move.
    pub(super) fn before(&self, calls: usize) -> usize {
        (calls * (usize::from(self.moves_at) + 1)).div_ceil(256)
    }
}

impl lab::Case for Case {
    fn fewer(&self) -> Vec<Self> {
        let fewer = self.commands.fewer().into_iter();
        let with = |commands| Self {
            commands,
            ..self.clone()
        };
        fewer.map(with).collect()
    }
}

pub(super) fn case() -> impl Strategy<Value = Case> {
    // Late enough that there is something to move.
    let moves_at = prop_oneof![3 => 120..=255_u8, 1 => any::<u8>()];
    let parts = (
        generate::sequence(),
        moves_at,
        1..6_u16,
        1..9_usize,
        any::<u8>(),
    );
    parts.prop_map(|(commands, moves_at, page, batch, pick)| Case {
        commands,
        moves_at,
        page,
        batch,
        pick,
    })
}
