//! The protocol of an idempotency key's hold, checked exhaustively for a few requests: claim, do
//! the work with a receipt, keep the answer, answer; with crashes, holds that lapse at any time,
//! other bodies and an erasure in between.
//!
//! It models what `idempotency` and `store::Operation` promise together, not their code.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]
#![allow(
    clippy::print_stdout,
    reason = "how much was checked is part of the result"
)]

use stateright::{Checker, Model, Property};

/// How many requests carry the key: the first, and retries on other nodes. The last one has
/// another body.
const REQUESTS: usize = 4;
const OTHER_BODY: usize = REQUESTS - 1;
const MAX_CRASHES: u8 = 2;

/// What an answer says: which request did the work, and whether it was cleared since.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Answer {
    done_by: usize,
    cleared: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Key {
    Free,
    Held { by: usize, barred: bool },
    Done { answer: Answer, other_body: bool },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Phase {
    /// Not sent, or told to wait.
    Waiting,
    /// It holds the key, as far as it knows.
    Holding,
    /// The store took it, now or before.
    Worked(Answer),
    /// The store refused it, which a retry may find otherwise.
    Refused,
    /// The client was answered.
    Answered(Answer),
    /// The client was told that the key has another body.
    Mismatch,
    /// The client was told that it was refused.
    Failed,
    /// Its process died.
    Crashed,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    key: Key,
    receipt: Option<(Answer, bool)>,
    effects: u8,
    erased: bool,
    forgotten: bool,
    requests: [Phase; REQUESTS],
    crashes: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Action {
    Begin(usize),
    Work(usize),
    BeRefused(usize),
    /// Keeps the answer, or frees the key, and answers.
    Finish(usize),
    /// Keeps the answer, or frees the key, and dies before it answers.
    FinishAndCrash(usize),
    Crash(usize),
    /// The hold ends by the store's clock: its holder died, or is slow and couldn't renew it.
    Lapse,
    /// What the answer is about is erased: in the store first, then among the kept answers.
    EraseInStore,
    ForgetAnswers,
    /// The whole store of keys is lost.
    LoseKeys,
}

struct Protocol {
    /// Whether the store keeps a receipt with the effect.
    receipts: bool,
    /// Whether keys may be lost.
    loses_keys: bool,
}

impl Protocol {
    fn finish(state: &mut State, i: usize) {
        let holds = matches!(state.key, Key::Held { by, .. } if by == i);
        let barred = matches!(state.key, Key::Held { barred: true, .. });
        match state.requests[i] {
            Phase::Worked(answer) if holds && !barred => {
                let other_body = i == OTHER_BODY;
                state.key = Key::Done { answer, other_body };
            }
            _ if holds => state.key = Key::Free,
            _ => {}
        }
    }
}

impl Model for Protocol {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        vec![State {
            key: Key::Free,
            receipt: None,
            effects: 0,
            erased: false,
            forgotten: false,
            requests: [Phase::Waiting; REQUESTS],
            crashes: 0,
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        for (i, phase) in state.requests.iter().enumerate() {
            match phase {
                Phase::Waiting => actions.push(Action::Begin(i)),
                Phase::Holding => actions.extend([Action::Work(i), Action::BeRefused(i)]),
                Phase::Worked(_) | Phase::Refused => actions.push(Action::Finish(i)),
                _ => continue,
            }
            if state.crashes < MAX_CRASHES && *phase != Phase::Waiting {
                actions.push(Action::Crash(i));
                if matches!(phase, Phase::Worked(_)) {
                    actions.push(Action::FinishAndCrash(i));
                }
            }
        }
        if matches!(state.key, Key::Held { .. }) {
            actions.push(Action::Lapse);
        }
        actions.push(if state.erased {
            Action::ForgetAnswers
        } else {
            Action::EraseInStore
        });
        if self.loses_keys {
            actions.push(Action::LoseKeys);
        }
    }

    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        let mut state = last.clone();
        match action {
            Action::Begin(i) => match state.key {
                Key::Free => {
                    let barred = false;
                    state.key = Key::Held { by: i, barred };
                    state.requests[i] = Phase::Holding;
                }
                Key::Held { by, .. } if (by == OTHER_BODY) != (i == OTHER_BODY) => {
                    state.requests[i] = Phase::Mismatch;
                }
                // In flight: it waits, and asks again.
                Key::Held { .. } => {}
                Key::Done { other_body, .. } if other_body != (i == OTHER_BODY) => {
                    state.requests[i] = Phase::Mismatch;
                }
                Key::Done { answer, .. } => state.requests[i] = Phase::Answered(answer),
            },
            Action::Work(i) => match state.receipt.filter(|_| self.receipts) {
                Some((_, other_body)) if other_body != (i == OTHER_BODY) => {
                    state.requests[i] = Phase::Mismatch;
                    Self::finish(&mut state, i);
                }
                Some((answer, _)) => state.requests[i] = Phase::Worked(answer),
                None => {
                    let answer = Answer {
                        done_by: i,
                        cleared: state.erased,
                    };
                    state.receipt = Some((answer, i == OTHER_BODY));
                    state.effects += 1;
                    state.requests[i] = Phase::Worked(answer);
                }
            },
            // A refusal is told only where there is no receipt.
            Action::BeRefused(i) => match state.receipt.filter(|_| self.receipts) {
                Some(_) => return None,
                None => state.requests[i] = Phase::Refused,
            },
            Action::Finish(i) => {
                Self::finish(&mut state, i);
                state.requests[i] = match state.requests[i] {
                    Phase::Worked(answer) => Phase::Answered(answer),
                    _ => Phase::Failed,
                };
            }
            Action::FinishAndCrash(i) => {
                Self::finish(&mut state, i);
                state.requests[i] = Phase::Crashed;
                state.crashes += 1;
            }
            Action::Crash(i) => {
                state.requests[i] = Phase::Crashed;
                state.crashes += 1;
            }
            Action::Lapse | Action::LoseKeys => state.key = Key::Free,
            Action::EraseInStore => {
                state.erased = true;
                if let Some((answer, _)) = &mut state.receipt {
                    answer.cleared = true;
                }
            }
            Action::ForgetAnswers => {
                state.forgotten = true;
                match &mut state.key {
                    Key::Done { .. } => state.key = Key::Free,
                    Key::Held { barred, .. } => *barred = true,
                    Key::Free => {}
                }
            }
        }
        // So that a state in which nothing more happens is seen to be the end.
        (state != *last).then_some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("the effect happens at most once", |_, state: &State| {
                state.effects <= 1
            }),
            Property::always("every answer is the same", |_, state: &State| {
                let answers = state.requests.iter().filter_map(|phase| match phase {
                    Phase::Answered(answer) => Some(answer.done_by),
                    _ => None,
                });
                let mut done_by: Vec<usize> = answers.collect();
                done_by.dedup();
                done_by.len() <= 1
            }),
            Property::always("nobody is answered for another body", |_, state: &State| {
                state.requests.iter().enumerate().all(|(i, phase)| {
                    !matches!(phase, Phase::Answered(answer)
                        if (answer.done_by == OTHER_BODY) != (i == OTHER_BODY))
                })
            }),
            Property::always("nothing forgotten is kept", |_, state: &State| {
                let kept = match state.key {
                    Key::Done { answer, .. } => Some(answer),
                    _ => None,
                };
                !state.forgotten || kept.is_none_or(|answer| answer.cleared)
            }),
            Property::eventually(
                "in the end all are over and no key is held",
                |_, state: &State| {
                    let is_over = |phase: &Phase| {
                        matches!(
                            phase,
                            Phase::Answered(_) | Phase::Mismatch | Phase::Failed | Phase::Crashed
                        )
                    };
                    state.requests.iter().all(is_over) && !matches!(state.key, Key::Held { .. })
                },
            ),
            Property::sometimes(
                "a retry is answered with what a crash hid",
                |_, state: &State| {
                    state.crashes > 0
                        && state.effects == 1
                        && state
                            .requests
                            .iter()
                            .enumerate()
                            .any(|(i, phase)| matches!(phase, Phase::Answered(a) if a.done_by != i))
                },
            ),
            Property::sometimes("an answer is barred from being kept", |_, state: &State| {
                matches!(state.key, Key::Held { barred: true, by }
                    if matches!(state.requests[by], Phase::Worked(_)))
            }),
        ]
    }
}

fn check(protocol: Protocol) -> impl Checker<Protocol> {
    protocol.checker().spawn_bfs().join()
}

#[test]
fn the_effect_happens_at_most_once_and_no_hold_is_left() {
    for loses_keys in [false, true] {
        let receipts = true;
        let checker = check(Protocol {
            receipts,
            loses_keys,
        });
        println!(
            "keys lost: {loses_keys}: {} states, {} of them different",
            checker.state_count(),
            checker.unique_state_count()
        );
        checker.assert_properties();
    }
}

/// What a hold alone would be worth.
#[test]
fn without_receipts_the_effect_may_happen_twice() {
    let checker = check(Protocol {
        receipts: false,
        loses_keys: false,
    });
    checker.assert_any_discovery("the effect happens at most once");
}
