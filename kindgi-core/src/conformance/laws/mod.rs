//! The laws. Each is a function that tries it on a backend and says why it doesn't hold, if so.

mod dropped;
mod judge_classes;
mod judged_runs;
mod judging_queue;
mod judging_rules;
mod judgments;
mod lifecycle;
mod operations;
mod pages;
mod participants;
mod purge;
mod queue_cap;
mod queue_pages;
mod queue_races;
mod queue_results;
mod queue_text;
mod receipts;
mod reopened;
mod rule_pages;
mod rule_text;
mod tenants;
mod text;
mod whole;

pub use dropped::a_dropped_future_leaves_all_or_nothing;
pub use judge_classes::{
    a_class_that_changed_is_noticed, a_live_class_name_is_unique_in_its_scope_under_concurrency,
    a_retired_class_frees_its_name,
};
pub use judged_runs::walking_judged_runs_yields_every_run_once_in_order;
pub use judging_queue::{
    a_run_is_told_once, an_item_is_where_its_facts_put_it,
    moving_an_item_is_decided_once_under_concurrency, rules_that_changed_are_noticed,
};
pub use judging_rules::{
    a_stopped_rule_takes_no_version, a_version_naming_a_changed_class_is_noticed,
    rule_versions_are_consecutive_under_concurrency,
};
pub use judgments::{
    a_copy_never_changes_after_the_first, a_successor_is_never_before_its_predecessor,
    one_live_judgment_per_key_under_concurrency, what_was_removed_never_revives,
};
pub use lifecycle::{an_erased_run_takes_no_judgment, nothing_of_an_erased_run_can_be_read};
pub use operations::{
    a_kept_operation_takes_effect_once, a_refusal_is_never_kept, an_operation_ends_at_its_instant,
};
pub use pages::{
    a_list_shows_readable_projects_alone,
    walking_a_list_while_others_write_skips_and_repeats_nothing,
    walking_a_list_yields_every_row_once_in_order,
};
pub use participants::nothing_of_an_erased_participant_can_be_read;
pub use purge::{
    a_purge_moves_the_items_that_stay, a_purge_removes_what_is_older_and_nothing_else,
    a_run_of_before_a_purge_is_never_taken,
};
pub use queue_cap::a_cap_is_exact_under_concurrency;
pub use queue_pages::{
    walking_the_queue_while_others_write_skips_and_repeats_nothing,
    walking_the_queue_yields_every_item_once_in_order,
};
pub use queue_races::{
    runs_that_end_at_once_are_all_answered, what_races_with_erasing_a_run_leaves_no_trace,
    what_races_with_retiring_a_class_is_whole,
};
pub use queue_results::results_add_up;
pub use receipts::{a_receipt_is_what_an_operation_came_to, what_changed_nothing_is_kept_once};
pub use reopened::what_was_written_is_there_when_opened_again;
pub use rule_pages::{
    walking_rules_and_versions_yields_every_row_once_in_order,
    walking_rules_while_others_write_skips_and_repeats_nothing,
};
pub use tenants::tenants_never_meet;
pub use text::{json_is_kept_verbatim, text_compares_exactly, text_is_kept_verbatim};
pub use whole::{answers_equal_the_model, concurrent_rounds_equal_some_order};
