// Runs commands one after another, each with its own environment, as separate processes would. Both outputs of a
// finished command end with the mark.
import { z } from 'zod'
import { runCommandLine } from '../../src/cli/command-line.ts'

const [mark] = z.tuple([z.string()]).parse(process.argv.slice(2))
const Asked = z.object({ words: z.array(z.string()), environment: z.record(z.string(), z.string()) })

process.on('message', (message) => void run(Asked.parse(message)))

async function run({ words, environment }: z.infer<typeof Asked>): Promise<void> {
  for (const name of Object.keys(process.env)) delete process.env[name]
  Object.assign(process.env, environment)
  process.exitCode = 0
  await runCommandLine(words)
  process.stderr.write(`${mark}\n`)
  process.stdout.write(`${mark}${process.exitCode}\n`)
}
