// Guarantee: in a directory without a ledger, only `serve`, `demo`, `init` and the targets of `restore` and `copy` make
// one. Every other command ends with 2 and creates nothing; those of the host say where they looked.
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import { allCommands, commandLine } from '../../src/cli/command-line.ts'
import { type CommandGroup, commandGroups } from '../../src/cli/groups.ts'
import { createHost } from '../harness/process.ts'

const host = createHost()

/** Those that make a ledger, those that need none, and what the first of them are tested by. */
const exempt: Record<string, string> = {
  serve: 'makes a ledger: test/flows/first-start.test.ts',
  demo: 'plays on a temporary one',
  init: 'makes a ledger: test/flows/first-start.test.ts',
  restore: 'makes a ledger: test/flows/backup.test.ts',
  'backup verify': 'uses a temporary one',
  config: 'opens no store: test/cli/usage.test.ts',
  'webhooks listen': 'needs no ledger',
  'webhooks verify': 'needs no ledger',
  completion: 'needs no server: test/cli/completion.test.ts',
  login: 'calls the server that it is given',
  copy: 'has a target, and is tested with it below',
}

/** What required arguments and options are given, where any text would be refused before. */
const samples: Record<string, string> = {
  url: 'https://example.com/hook',
  'member role': 'owner',
  role: 'owner',
  email: 'ada@example.com',
  scopes: 'products:read',
  from: 'csv',
  expires: '30d',
  time: '8h',
  out: 'never-written.zip',
  to: 'never-made',
  product: 'editor',
}

const wordsOf = (command: Command): string[] =>
  command.parent?.parent ? [...wordsOf(command.parent), command.name()] : [command.name()]

/** A call of the command with everything that it requires. */
function callOf(command: Command): string[] {
  const args = command.registeredArguments
    .filter(({ required }) => required)
    .map((argument) => samples[argument.name()] ?? 'acme')
  const options = command.options
    .filter(({ mandatory, defaultValue }) => mandatory && defaultValue === undefined)
    .flatMap((option) => [option.long ?? '', samples[option.attributeName()] ?? 'acme'])
  return [...wordsOf(command), ...args, ...options]
}

async function leavesOf(isMeant: (where: CommandGroup['where']) => boolean): Promise<string[][]> {
  const program = await commandLine(commandGroups.filter((group) => isMeant(group.where)))
  const leaves = allCommands(program).filter((command) => !hasOnlyGroups(command))
  return leaves.filter((command) => !Object.hasOwn(exempt, wordsOf(command).join(' '))).map(callOf)
}

/** `backup` runs itself and has a command below it; `webhooks` only groups others. */
const hasOnlyGroups = (command: Command): boolean =>
  command.commands.length > 0 && command.registeredArguments.length === 0

const onHost = await leavesOf((where) => where === 'host')
const elsewhere = await leavesOf((where) => where !== 'host')
/** The host's forms of commands that a server has too, and what needs more than it requires. */
const more = [
  ...['show', 'history', 'explain', 'revoke'].map((name) => ['licenses', name, 'lic_1', '--tenant', 'acme']),
  ['licenses', 'diff', 'lic_1', '--from', '0', '--tenant', 'acme'],
  ['licenses', 'evidence', 'lic_1', '--out', 'never-made', '--tenant', 'acme'],
  ['sales', 'list', '--tenant', 'acme'],
  ['sales', 'show', 'sale_1', '--tenant', 'acme'],
  ['sales', 'replay', 'sale_1', '--tenant', 'acme'],
  ['integrations', 'connect', 'gumroad', '--tenant', 'acme'],
  ['sdk-key', 'show', '--tenant', 'acme'],
  ['copy', '--to', 'never-made'],
]

function emptyMachine() {
  const home = host.path('home')
  mkdirSync(home)
  return { home, environment: { HOME: home, KEYLEDGER_DATA_DIR: join(home, 'data') } }
}

describe('on the host', () => {
  test('every command of the tree is tested', () => {
    expect(onHost.length).toBeGreaterThan(35)
    expect(onHost.map(([first]) => first)).toEqual(expect.arrayContaining(['tenant', 'member', 'doctor']))
  })

  test.each([...onHost, ...more].map((words) => [words.join(' '), words] as const))(
    '%s',
    async (_, words) => {
      const { home, environment } = emptyMachine()
      const { code, stdout, stderr } = await host.run(words, environment)
      expect({ code, stdout, stderr }).toStrictEqual({
        code: 2,
        stdout: '',
        stderr: [
          `There is no ledger in ${join(home, 'data')}.`,
          `KEYLEDGER_DATA_DIR is ${join(home, 'data')}.`,
          'KEYLEDGER_DATABASE_URL is not set, KEYLEDGER_EVENTSTORE_URL is not set.',
          'Run the command where the ledger is, or set these variables as the server has them.',
          'To make a ledger: keyledger init. To work on a server from this machine: keyledger login --server <address>.',
          '',
        ].join('\n'),
      })
      expect(readdirSync(home)).toStrictEqual([])
      expect(existsSync(join(host.directory, 'never-made'))).toBe(false)
    },
  )
})

test('without KEYLEDGER_DATA_DIR it says that it searched the working directory', async () => {
  const { stderr } = await host.run(['tenant', 'list'], {})
  expect(stderr).toContain(`There is no ledger in ${join(host.directory, '.keyledger')}.`)
  expect(stderr).toContain(
    'KEYLEDGER_DATA_DIR is not set, so the working directory was searched for .keyledger.',
  )
  expect(existsSync(join(host.directory, '.keyledger'))).toBe(false)
})

describe('on a machine that is not signed in', () => {
  test.each(elsewhere.map((words) => [words.join(' '), words] as const))('%s', async (_, words) => {
    const { home, environment } = emptyMachine()
    const file = join(host.directory, 'acme')
    writeFileSync(file, '')
    const { code, stdout } = await host.run(words, { ...environment })
    const lists = words[0] === 'profiles' && words[1] === 'list'
    expect(lists ? code : { code, stdout }).toStrictEqual(lists ? 0 : { code: 2, stdout: '' })
    expect(readdirSync(home)).toStrictEqual([])
  })
})
