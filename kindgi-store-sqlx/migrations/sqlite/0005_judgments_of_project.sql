-- For one who may read one project: what a filter is equal to, then the project and the list's
-- order. A run is of one project, so its index needs none.
CREATE INDEX {}judgments_project_verdict ON {}judgments (tenant, project, verdict, created_at, id)
    WHERE unregistered_at IS NULL;

CREATE INDEX {}judgments_project_class ON {}judgments (tenant, project, class, created_at, id)
    WHERE unregistered_at IS NULL AND class IS NOT NULL;

CREATE INDEX {}judgments_project_participant ON {}judgments
    (tenant, project, participant, created_at, id)
    WHERE unregistered_at IS NULL AND participant IS NOT NULL;

CREATE INDEX {}judgments_project_subject ON {}judgments
    (tenant, project, subject_id, subject_kind, created_at, id)
    WHERE unregistered_at IS NULL;

CREATE INDEX {}judgments_project_version ON {}judgments
    (tenant, project, subject_id, subject_kind, version, created_at, id)
    WHERE unregistered_at IS NULL;

-- The same for judged runs.
CREATE INDEX {}runs_project_subject ON {}runs
    (tenant, project, subject_id, subject_kind, captured_at, run)
    WHERE erased = 0 AND replay = 0;
