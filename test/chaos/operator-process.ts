import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { z } from 'zod'
import { type Input, type OperatorCommand, type Output, operatorCommands } from './operator-commands.ts'

export type Operator = {
  /** @throws OperatorFailed when the command failed, for example because a store does not respond */
  send<C extends OperatorCommand>(command: C, input: Input<C>): Promise<Output<C>>
  stop(): void
}

export class OperatorFailed extends Error {}

const Reply = z.object({ id: z.int(), output: z.unknown().optional(), failed: z.string().optional() })
type Reply = z.infer<typeof Reply>

/** Starts an operator that runs one command after another. */
export function startOperator(environment: NodeJS.ProcessEnv, logFile: string): Operator {
  const log = openSync(logFile, 'a')
  const child: ChildProcess = spawn(process.execPath, [join(import.meta.dirname, 'operator.ts')], {
    env: environment,
    stdio: ['pipe', 'pipe', log],
  })
  closeSync(log)
  const waiting = new Map<number, (reply: Reply) => void>()
  let ids = 0
  if (child.stdout) {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const reply = Reply.parse(JSON.parse(line))
      waiting.get(reply.id)?.(reply)
      waiting.delete(reply.id)
    })
  }
  child.once('exit', () => {
    for (const [id, settle] of waiting) settle({ id, failed: 'the operator has ended' })
    waiting.clear()
  })
  return {
    async send<C extends OperatorCommand>(command: C, input: Input<C>) {
      if (child.exitCode !== null) throw new OperatorFailed('the operator has ended')
      const id = ++ids
      const { promise, resolve } = Promise.withResolvers<Reply>()
      waiting.set(id, resolve)
      child.stdin?.write(`${JSON.stringify({ id, command, input })}\n`)
      const { output, failed } = await promise
      if (failed !== undefined) throw new OperatorFailed(failed)
      return operatorCommands[command].output.parse(output) as Output<C>
    },
    stop: () => void child.kill('SIGKILL'),
  }
}
