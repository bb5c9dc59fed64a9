-- What witnesses have signed: a line each, as it stands in a signed note.
create table notary.cosignatures (
  origin text not null,
  size bigint not null,
  -- The public key of the witness.
  witness text not null,
  line text not null,
  cosigned_at timestamptz not null,
  primary key (origin, size, witness)
);

-- How each configured witness answered last.
create table notary.witnesses (
  witness text primary key,
  -- The last checkpoint that it cosigned.
  origin text,
  size bigint,
  cosigned_at timestamptz,
  -- Why it does not cosign now, and since when; null when it does.
  problem text,
  problem_since timestamptz
);
