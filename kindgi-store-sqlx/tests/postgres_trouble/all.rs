//! Every test of this target.

mod cancelling;
mod claims;
mod contention;
mod cut_off;
mod invariants;
mod large;
mod locks;
mod outage;
mod places;
mod proxy;
mod refusals;
mod renewals;
mod requests;
mod starting;
mod support;
