//! The laws, as functions.

mod directory;
mod odd;
mod permissions;
mod recent;
mod runs;

pub use directory::{
    an_organisation_has_projects_of_its_tenant, the_directory_knows_the_projects_there_are,
};
pub use odd::odd_ids_are_answered_and_never_mixed_up;
pub use permissions::{
    a_stranger_may_do_nothing, nobody_may_do_anything_in_another_tenant,
    what_may_be_read_agrees_with_what_is_listed,
};
pub use recent::{
    recent_runs_are_as_many_as_asked_and_of_the_project,
    recent_runs_are_runs_that_ended_newest_first,
};
pub use runs::{
    a_context_is_the_same_each_time, a_run_is_the_same_each_time, a_run_is_what_was_asked_for,
    a_run_of_one_tenant_is_not_given_to_another,
};
