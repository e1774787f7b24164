//! The API's behaviour through the service, one module for each behaviour.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../common/mod.rs"]
mod common;

mod authentication;
mod bodies;
mod causes;
mod cursors;
mod detached_writes;
mod erased_runs;
mod errors;
mod host_failures;
mod idempotency_key;
mod judge_classes_assertable_by;
mod judge_classes_create;
mod judge_classes_list;
mod judge_classes_names;
mod judge_classes_retire;
mod judge_classes_update;
mod judging_queue_filters;
mod judging_queue_for_me;
mod judging_queue_list;
mod judging_queue_moves;
mod judging_queue_pages;
mod judging_queue_states;
mod judging_rules_create;
mod judging_rules_list;
mod judging_rules_preview;
mod judging_rules_races;
mod judging_rules_results;
mod judging_rules_unregister;
mod judging_rules_update;
mod judging_rules_versions;
mod judging_rules_when;
mod judgments_copies;
mod judgments_correction;
mod judgments_fields;
mod judgments_item_values;
mod judgments_list;
mod judgments_order_of_checks;
mod judgments_races;
mod judgments_supersede;
mod judgments_under_classes;
mod judgments_unregister;
mod numbers;
mod pages;
mod permissions;
mod queries;
mod request_ids;
mod routes_and_methods;
mod tenants;
mod time_limits;
