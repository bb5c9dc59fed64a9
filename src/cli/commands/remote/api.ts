import type { Command } from 'commander'
import { CommandMisused } from '../../../terminal/exit-codes.ts'
import { print } from '../../../terminal/output.ts'
import { type CommandContext, topCommand } from '../../context.ts'
import { openRemote, type RemoteOptions, sessionOptions, wordsToRepeat } from '../../remote/build.ts'
import type { Call, Method } from '../../remote/client.ts'
import { saveBody } from '../../remote/download.ts'
import { openApproved } from '../../remote/gate.ts'
import { readJson } from '../../remote/input.ts'

type Options = RemoteOptions & { data?: string; confirmation?: string }

const methods: readonly string[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] satisfies Method[]

/** `keyledger api`: any operation by its method and path. */
export function apiCommand(program: Command, { words }: CommandContext): void {
  sessionOptions(topCommand(program, 'api'))
    .option('--data <json>', 'the body: JSON, @<file>, or - for stdin')
    .option('--confirmation <id>', 'an approved confirmation for this request')
    .option('--json', 'print errors as JSON; the answer is printed as it is in any case')
    .action((method: string, path: string, options: Options) => api(method, path, options, words))
}

async function api(name: string, path: string, options: Options, words: readonly string[]): Promise<void> {
  const method = methodOf(name)
  if (!path.startsWith('/')) throw new CommandMisused(`${path} is not a path. Write it as /v1/….`)
  const body = options.data === undefined ? undefined : await readJson(options.data, '--data')
  const { client, session } = openRemote(options)
  // It is not known whether the operation takes an Idempotency-Key.
  const call: Call = { method, path, body, repeatable: false }
  const response = await openApproved(client, call, {
    confirmation: options.confirmation,
    words: wordsToRepeat(words, session),
  })
  if (response.headers.get('content-type')?.startsWith('application/json')) {
    print({ json: true }, await response.json(), () => [])
    return
  }
  await saveBody(response, undefined)
}

function methodOf(name: string): Method {
  const method = name.toUpperCase()
  if (isMethod(method)) return method
  throw new CommandMisused(`${name} is not a method. Use ${methods.join(', ')}.`)
}

const isMethod = (name: string): name is Method => methods.includes(name)
