-- The partitions of the audit log and of the events for now and for what comes next; jobs create the later ones.

select jobs.keep_audit_partitions(), jobs.keep_event_partitions();
