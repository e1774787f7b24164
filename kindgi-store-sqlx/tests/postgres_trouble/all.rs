//! Every test of this target.

mod cancelling;
mod contention;
mod cut_off;
mod invariants;
mod locks;
mod outage;
mod proxy;
mod refusals;
mod requests;
mod support;
