/** Guarantee: no command runs with an empty argument or option, such as a shell variable that is not set. */
import type { Command } from 'commander'
import { expect, test } from 'vitest'
import { allCommands, commandLine } from '../../src/cli/command-line.ts'

/** The words of a command, and what it needs. */
function wordsOf(command: Command): string[] {
  const names: string[] = []
  for (let at: Command | null = command; at?.parent; at = at.parent) names.unshift(at.name())
  return [
    ...names,
    ...command.registeredArguments.filter(({ required }) => required).map(() => 'x'),
    ...command.options
      .filter(({ mandatory }) => mandatory)
      .flatMap(({ long, argChoices }) => [long ?? '', argChoices?.[0] ?? 'x']),
  ]
}

const program = await commandLine()
const all = allCommands(program)
for (const command of [program, ...all]) command.exitOverride().configureOutput({ writeErr: () => undefined })
const leaves = all.filter(({ commands }) => commands.length === 0)
for (const command of leaves) command.action(() => undefined)

/** What becomes of each command, which itself does nothing: `ran`, or why it did not run. */
async function outcomeOf(change: (command: Command) => string[] | undefined): Promise<Map<string, string>> {
  const outcomes = new Map<string, string>()
  for (const command of leaves) {
    const words = change(command)
    if (words === undefined) continue
    const outcome = await program.parseAsync(words, { from: 'user' }).then(
      () => 'ran',
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    )
    outcomes.set(words.join(' '), outcome)
  }
  return outcomes
}

test('each command runs with what it needs', async () => {
  const outcomes = await outcomeOf(wordsOf)
  expect(outcomes.size).toBeGreaterThan(100)
  expect([...outcomes].filter(([, outcome]) => outcome !== 'ran')).toStrictEqual([])
})

test('no command runs with an empty option, except a list and a text that an empty one removes', async () => {
  const most = Math.max(...leaves.map(({ options }) => options.length))
  const ran: string[] = []
  for (let index = 0; index < most; index += 1) {
    const outcomes = await outcomeOf((command) => {
      const option = command.options[index]
      return option?.long && option.required ? [...wordsOf(command), option.long, ''] : undefined
    })
    for (const [words, outcome] of outcomes) if (outcome === 'ran') ran.push(words.trim())
  }
  expect(ran.toSorted()).toStrictEqual([
    'customers update x --name',
    'integrations map x x --permalinks',
    'key-types create x --entitlements',
    'key-types create x --fallback-entitlements',
    'key-types update x x --entitlements',
    'key-types update x x --fallback-entitlements',
    'licenses published-keys --found',
    'licenses update x --email',
    'licenses update x --name',
    'mail preview --language',
    'mail preview --product',
    'mail style set --footer',
    'mail style set --reply-to',
    'mail templates set --html',
    'mail templates set --language',
    'mail templates set --product',
    'portal set --accent-color',
    'portal set --name',
    'portal set --support-email',
    'products create --device-mails',
    'products mail set x --html',
    'products mail set x --reply-to',
    'products mail set x --subject',
    'products mail set x --text',
    'products mail test x --language',
    'products update x --device-mails',
    'roles add --scopes',
    'roles update x --scopes',
    'scim set --default-role',
    'sign-in add x --customer',
    'sign-in add x --default-role',
    'sign-in add x --domains',
    'sign-in add x --role-claim',
    'sign-in update x --default-role',
    'sign-in update x --domains',
    'sign-in update x --role-claim',
    'webhooks add x --events',
    'webhooks first set x --events',
    'webhooks replays create --events',
    'webhooks update x --events',
  ])
})

test('no command runs with an empty argument', async () => {
  const outcomes = await outcomeOf((command) => {
    const words = wordsOf(command)
    const at = words.indexOf('x')
    return command.registeredArguments[0]?.required ? words.with(at, '') : undefined
  })
  expect(outcomes.size).toBeGreaterThan(30)
  expect([...outcomes].filter(([, outcome]) => !outcome.includes('is empty'))).toStrictEqual([])
})
