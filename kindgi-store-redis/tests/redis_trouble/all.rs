//! Every test of this target.

#[path = "../redis/made.rs"]
mod made;

mod cut_off;
mod late;
mod leases;
mod outage;
mod proxy;
mod refusals;
mod scripts;
mod state;
mod steps;
mod support;
mod table;
