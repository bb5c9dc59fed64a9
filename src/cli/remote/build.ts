import { type Command, Option } from 'commander'
import { parametersOf } from '../../description/path.ts'
import { print, printToStderr } from '../../terminal/output.ts'
import { type CommandContext, groupCommand, type HostForm, topCommand } from '../context.ts'
import { mayBeEmpty } from '../empty.ts'
import { hostOptions, ranOnHost } from '../host-form.ts'
import { type Client, createClient } from './client.ts'
import { showDryRun } from './dry-run.ts'
import { readPages } from './feed.ts'
import { openApproved } from './gate.ts'
import { askFirst } from './input.ts'
import type { Field } from './operations/field.ts'
import type { Operation } from './operations/operation.ts'
import { argumentFields, requestOf } from './operations/request.ts'
import { subjects } from './operations/subjects.ts'
import { optionFlags, optionHelp, optionName } from './operations/values.ts'
import { linesOf, terminalWidth } from './output.ts'
import { findSession, type Session, type SessionOptions } from './profiles.ts'
import { watch } from './watch.ts'

type Options = RemoteOptions & {
  all?: boolean
  watch?: boolean
  yes?: boolean
  confirmation?: string
  dryRun?: boolean
  tenant?: string
} & Record<string, unknown>

/** Adds the command of an operation, with its arguments and options. */
export function operationCommand(program: Command, operation: Operation, context: CommandContext): void {
  const names = operation.words.split(' ')
  const parent = names.slice(0, -1).reduce((command, name, index) => {
    return groupCommand(command, name, subjects[names.slice(0, index + 1).join(' ')] ?? '')
  }, program)
  const hostForm = context.hostForms[operation.words]
  const last = names.at(-1) ?? ''
  const command = sessionOptions(
    names.length === 1 ? topCommand(program, last) : parent.command(last).description(operation.summary),
  )
  for (const name of parametersOf(operation.path)) command.argument(`<${argumentName(name)}>`)
  for (const [name, field] of argumentFields(operation)) {
    command.argument(`<${optionName(name, field)}>`, field.help)
  }
  fieldOptions(command, operation)
  runOptions(command, operation)
  if (hostForm) hostOptions(command, hostForm)
  command.action(() => run(operation, command.args, command.opts<Options>(), context, hostForm))
}

/** `productId` is shown as `product-id`, `id` as it is. */
const argumentName = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

function fieldOptions(command: Command, { query = {}, body = {} }: Operation): void {
  for (const [name, field] of Object.entries({ ...query, ...body })) {
    if (field.argument) continue
    if (field.kind === 'pairs' || field.kind === 'values') {
      const collect = (one: string, before: readonly string[] = []) => [...before, one]
      command.option(optionFlags(name, field), optionHelp(field), collect)
    } else {
      const option = new Option(optionFlags(name, field), optionHelp(field))
      command.addOption(isClearable(field) ? mayBeEmpty(option) : option)
    }
  }
}

/** An empty list is one; an empty text removes what may be absent. */
const isClearable = ({ kind, nullable }: Field): boolean =>
  kind === 'list' || (kind === 'text' && nullable === true)

function runOptions(command: Command, { method, body, paged, gated, dryRun, question }: Operation): void {
  if (body)
    command.option('--data <json>', 'the body: JSON, @<file>, or - for stdin; options replace its fields')
  if (paged) {
    command
      .option('--all', 'follow all pages')
      .option('--limit <number>', 'items per page, 1 to 100')
      .option('--cursor <cursor>', 'continue after an earlier page')
      .option('--order <newest|oldest>', 'the order of the list')
  }
  if (method === 'GET' && !gated) {
    command.option('--watch', 'refresh every 2 seconds; with --json, print a line for each change')
  }
  if (question !== undefined)
    command.option('--yes', 'do not ask at the terminal; an approval is still needed')
  if (gated) command.option('--confirmation <id>', 'a confirmation that was requested earlier')
  if (dryRun) command.option('--dry-run', 'show what would change, and change nothing')
  command.option('--json', 'print the answer of the server')
}

async function run(
  operation: Operation,
  args: readonly string[],
  options: Options,
  context: CommandContext,
  hostForm: HostForm | undefined,
): Promise<void> {
  if (hostForm && (await ranOnHost(hostForm, args, options))) return
  const call = await requestOf(operation, args, options, new Date())
  const { client, session } = openRemote(options)
  if (options.dryRun) return showDryRun(client, call, options)
  await askFirst(operation.question, options)
  const words = wordsToRepeat(context.words, session)
  const read = async (): Promise<unknown> => {
    if (options.all) return readPages(client, call)
    const response = await openApproved(client, call, { confirmation: options.confirmation, words })
    return response.json() as Promise<unknown>
  }
  if (options.watch) {
    const lines = (body: unknown) => linesOf(operation, body, terminalWidth())
    return watch(read, { json: options.json ?? false, lines })
  }
  const body: unknown = await read()
  print(options, body, () => linesOf(operation, body, terminalWidth()))
  noteNextPage(operation, body, options)
}

function noteNextPage({ paged }: Operation, body: unknown, { json }: Options): void {
  if (!paged || json || typeof body !== 'object' || body === null || !('nextCursor' in body)) return
  if (body.nextCursor !== null)
    printToStderr(`There are more: add --all, or --cursor ${String(body.nextCursor)}`)
}

/** The options of every command that calls a server. */
export type RemoteOptions = SessionOptions & { json?: boolean }

/** A signed-in command: its session and a client for it. */
export type Remote = { session: Session; client: Client }

/** @throws CommandMisused when nobody is signed in */
export function openRemote(options: SessionOptions): Remote {
  const session = findSession(options)
  return { session, client: createClient(session.server, { token: session.token }) }
}

/** The words of a command with its profile, which another one may replace as the current one meanwhile. */
export const wordsToRepeat = (words: readonly string[], { profile }: Session): readonly string[] =>
  profile === null || words.includes('--profile') ? words : [...words, '--profile', profile]

/** Adds the options that say which server is called. */
export const sessionOptions = (command: Command): Command =>
  command
    .option('--profile <name>', 'the profile to use; defaults to the current one')
    .option('--insecure-http', 'allow http to another machine: the token crosses the network in the clear')
