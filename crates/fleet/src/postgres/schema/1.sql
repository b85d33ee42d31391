-- Columns are called as those of the archive (docs/fleet-archive.md), and times end in _ns. A run is
-- known by its identifier and its start: each host of a fleet draws identifiers for itself.

CREATE TABLE run (
    run text NOT NULL,
    started_unix_ns bigint NOT NULL,
    journal_bytes bigint NOT NULL,
    "from" text NOT NULL,
    "to" text NOT NULL,
    from_site text,
    to_site text,
    target text NOT NULL,
    plan text NOT NULL,
    lab boolean NOT NULL,
    judged_by text NOT NULL,
    valid boolean NOT NULL,
    stop text,
    family_a text,
    family_b text,
    PRIMARY KEY (run, started_unix_ns)
);
CREATE INDEX run_by_path ON run ("from", "to", started_unix_ns);
CREATE INDEX run_by_start ON run (started_unix_ns);

CREATE TABLE answer (
    run text NOT NULL,
    run_started_unix_ns bigint NOT NULL,
    question_number integer NOT NULL,
    cell text NOT NULL,
    place text,
    question text NOT NULL,
    metric text NOT NULL,
    protocol text,
    level_bytes bigint,
    unit text,
    value_a double precision,
    value_b double precision,
    pairs bigint,
    effect_kind text,
    effect double precision,
    low95 double precision,
    high95 double precision,
    low90 double precision,
    high90 double precision,
    sd double precision,
    standard_error double precision,
    together bigint,
    merged bigint,
    margin double precision,
    predicted double precision,
    verdict text,
    qualifier text,
    why_none text,
    caveats text,
    PRIMARY KEY (run, run_started_unix_ns, question_number),
    FOREIGN KEY (run, run_started_unix_ns) REFERENCES run ON DELETE CASCADE
);

CREATE TABLE pair (
    run text NOT NULL,
    run_started_unix_ns bigint NOT NULL,
    question_number integer NOT NULL,
    pair_number integer NOT NULL,
    block bigint NOT NULL,
    round bigint,
    "order" text,
    block_valid boolean NOT NULL,
    at_ns bigint,
    value_a double precision,
    value_b double precision,
    effect double precision,
    PRIMARY KEY (run, run_started_unix_ns, question_number, pair_number),
    FOREIGN KEY (run, run_started_unix_ns, question_number) REFERENCES answer ON DELETE CASCADE
);

CREATE TABLE trial (
    run text NOT NULL,
    run_started_unix_ns bigint NOT NULL,
    trial_number integer NOT NULL,
    block bigint NOT NULL,
    block_valid boolean,
    cell text NOT NULL,
    kind text,
    round bigint,
    arm text,
    family text,
    "order" text,
    attempt bigint,
    started_unix_ns bigint NOT NULL,
    started_ns bigint,
    duration_ns bigint,
    "values" jsonb NOT NULL,
    seen jsonb NOT NULL,
    PRIMARY KEY (run, run_started_unix_ns, trial_number),
    FOREIGN KEY (run, run_started_unix_ns) REFERENCES run ON DELETE CASCADE
);
CREATE INDEX trial_by_start ON trial (started_unix_ns);

-- The tables of the archive: a query of one runs on the other.

CREATE VIEW answers AS
SELECT r.run, r.started_unix_ns, r.journal_bytes, r."from", r."to", r.from_site, r.to_site,
       r.target, r.plan, r.lab, r.judged_by, r.valid, r.stop, a.cell, a.place, a.question,
       a.metric, a.protocol, a.level_bytes, a.unit, r.family_a, r.family_b, a.value_a, a.value_b,
       a.pairs, a.effect_kind, a.effect, a.low95, a.high95, a.low90, a.high90, a.sd,
       a.standard_error, a.together, a.merged, a.margin, a.predicted, a.verdict, a.qualifier,
       a.why_none, a.caveats
FROM run AS r
LEFT JOIN answer AS a ON a.run = r.run AND a.run_started_unix_ns = r.started_unix_ns;

CREATE VIEW pairs AS
SELECT r.run, r."from", r."to", r.from_site, r.to_site, r.target, a.cell, a.question, a.metric,
       a.unit, p.block, p.round, p."order", p.block_valid, p.at_ns, r.family_a, r.family_b,
       p.value_a, p.value_b, p.effect
FROM pair AS p
JOIN answer AS a USING (run, run_started_unix_ns, question_number)
JOIN run AS r ON r.run = p.run AND r.started_unix_ns = p.run_started_unix_ns;

CREATE VIEW trials AS
SELECT r.run, r."from", r."to", r.from_site, r.to_site, r.target, t.block, t.block_valid, t.cell,
       t.kind, t.round, t.arm, t.family, t."order", t.attempt, t.started_unix_ns, t.started_ns,
       t.duration_ns,
       (t."values" ->> 'throughput')::double precision AS "values.throughput",
       (t."values" ->> 'capacity')::double precision AS "values.capacity",
       (t."values" ->> 'rate-at-loss')::double precision AS "values.rate-at-loss",
       (t."values" ->> 'packet-rate')::double precision AS "values.packet-rate",
       (t."values" ->> 'rtt')::double precision AS "values.rtt",
       (t."values" ->> 'rtt-p50')::double precision AS "values.rtt-p50",
       (t."values" ->> 'rtt-p90')::double precision AS "values.rtt-p90",
       (t."values" ->> 'rtt-p99')::double precision AS "values.rtt-p99",
       (t."values" ->> 'ipdv')::double precision AS "values.ipdv",
       (t."values" ->> 'pdv')::double precision AS "values.pdv",
       (t."values" ->> 'frame-lateness')::double precision AS "values.frame-lateness",
       (t."values" ->> 'lookup')::double precision AS "values.lookup",
       (t."values" ->> 'connect')::double precision AS "values.connect",
       (t."values" ->> 'tls')::double precision AS "values.tls",
       (t."values" ->> 'quic')::double precision AS "values.quic",
       (t."values" ->> 'response')::double precision AS "values.response",
       (t."values" ->> 'first-byte')::double precision AS "values.first-byte",
       (t."values" ->> 'connect-rate')::double precision AS "values.connect-rate",
       (t."values" ->> 'loss')::double precision AS "values.loss",
       (t."values" ->> 'loss-back')::double precision AS "values.loss-back",
       (t."values" ->> 'frame-loss')::double precision AS "values.frame-loss",
       (t."values" ->> 'reordering')::double precision AS "values.reordering",
       (t."values" ->> 'duplication')::double precision AS "values.duplication",
       (t."values" ->> 'cpu')::double precision AS "values.cpu"
FROM trial AS t
JOIN run AS r ON r.run = t.run AND r.started_unix_ns = t.run_started_unix_ns;
