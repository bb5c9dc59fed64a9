import {
  chownSync,
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import type { Account } from './account.ts'
import { ensurePasswords, fingerprintOf, type Passwords, readPasswords, scramVerifier } from './passwords.ts'

/** The role that reads and writes rows, and owns, creates and swaps the read models. */
export const appRole = 'keyledger_app'
/** The role that owns the durable schemas and runs the migrations. */
export const schemaRole = 'keyledger_schema'

/**
 * Schemas that earlier versions created as the superuser and only migrations may change. All others are read
 * models.
 */
const durableSchemas = ['vault', 'usage', 'limits', 'operations', 'public']

/** Increased when the statements below change, so that existing clusters get them. */
const version = 1

/**
 * Who may connect: the two roles, with passwords, to the one database. There is no line for the superuser, so
 * it cannot connect.
 */
const accessRules = (passwords: Passwords): string =>
  [
    '# Written by keyledger, which replaces it when it differs.',
    `# version ${version}, passwords ${fingerprintOf(passwords)}`,
    `local keyledger ${appRole},${schemaRole} scram-sha-256`,
    '',
  ].join('\n')

const rulesFile = (directory: string): string => join(directory, 'data', 'pg_hba.conf')

/** Whether a cluster's roles and rules are up to date. */
export function isSecured(directory: string): boolean {
  const passwords = readPasswords(directory)
  if (!passwords || !existsSync(rulesFile(directory))) return false
  return readFileSync(rulesFile(directory), 'utf8') === accessRules(passwords)
}

/**
 * Creates the roles of a stopped cluster, and removes all other access. Each step can be repeated, and the
 * rules are written last, so an interrupted run is repeated.
 *
 * @param runAsSuperuser runs statements in the database, which must be stopped
 */
export async function secure(
  directory: string,
  account: Account,
  runAsSuperuser: (statements: string) => Promise<void>,
): Promise<void> {
  const passwords = ensurePasswords(directory)
  await runAsSuperuser(statementsFor(passwords))
  const draft = `${rulesFile(directory)}.new`
  writeFileSync(draft, accessRules(passwords), { mode: 0o600, flush: true })
  if (account.owner) chownSync(draft, account.owner.uid, account.owner.gid)
  renameSync(draft, rulesFile(directory))
  const data = openSync(join(directory, 'data'), 'r')
  fsyncSync(data)
  closeSync(data)
}

/** Statements separated by blank lines, as the single-user mode reads them. */
function statementsFor({ app, schema }: Passwords): string {
  const rights = 'login nosuperuser nocreatedb nocreaterole noreplication nobypassrls'
  const defaults = `alter default privileges for role ${schemaRole}`
  return [
    ...[appRole, schemaRole].map(
      (role) =>
        `do $$ begin if not exists (select from pg_roles where rolname = '${role}') then create role ${role}; end if; end $$`,
    ),
    `alter role ${appRole} ${rights} password '${scramVerifier(app)}'`,
    `alter role ${schemaRole} ${rights} password '${scramVerifier(schema)}'`,
    'revoke all on database keyledger from public',
    `grant connect, create on database keyledger to ${appRole}, ${schemaRole}`,
    // For objects that migrations will create.
    `${defaults} grant usage on schemas to ${appRole}`,
    `${defaults} grant select, insert, update, delete on tables to ${appRole}`,
    `${defaults} grant usage, select on sequences to ${appRole}`,
    transferOwnership,
  ]
    .map((statement) => `${statement};\n\n`)
    .join('')
}

/**
 * Transfers objects that earlier versions created as the superuser to the roles. A sequence of a column follows
 * its table.
 */
const transferOwnership = `do $$
declare
  space record;
  item record;
  keeper text;
begin
  for space in
    select oid, nspname as name, nspname in (${durableSchemas.map((name) => `'${name}'`).join(', ')}) as durable
    from pg_namespace where nspname !~ '^pg_' and nspname <> 'information_schema'
  loop
    keeper := case when space.durable then '${schemaRole}' else '${appRole}' end;
    execute format('alter schema %I owner to %I', space.name, keeper);
    for item in
      select relname as name from pg_class c
      where relnamespace = space.oid and relkind in ('r', 'p', 'v', 'm', 'S') and not exists (
        select from pg_depend d where d.objid = c.oid and d.classid = 'pg_class'::regclass and d.deptype in ('a', 'i'))
    loop
      execute format('alter table %I.%I owner to %I', space.name, item.name, keeper);
    end loop;
    for item in select oid::regprocedure as name from pg_proc where pronamespace = space.oid loop
      execute format('alter routine %s owner to %I', item.name, keeper);
    end loop;
    for item in
      select typname as name from pg_type t left join pg_class c on c.oid = t.typrelid
      where typnamespace = space.oid and (typtype in ('e', 'd', 'r') or c.relkind = 'c')
    loop
      execute format('alter type %I.%I owner to %I', space.name, item.name, keeper);
    end loop;
    if space.durable and space.name <> 'public' then
      execute format('grant usage on schema %I to ${appRole}', space.name);
      execute format('grant select, insert, update, delete on all tables in schema %I to ${appRole}', space.name);
      execute format('grant usage, select on all sequences in schema %I to ${appRole}', space.name);
    end if;
  end loop;
end $$`
