import { z } from 'zod'
import { type OutputOptions, print } from '../../terminal/output.ts'
import type { Call, Client } from './client.ts'

const DryRun = z.looseObject({
  wouldBeRefused: z.object({ status: z.int(), error: z.string(), code: z.string() }).nullable(),
  sentences: z.array(z.string()),
})

/** Prints what a call would change. Nothing is changed, and nobody has to approve it. */
export async function showDryRun(client: Client, call: Call, options: OutputOptions): Promise<void> {
  const { body } = await client.call({
    ...call,
    query: { ...call.query, dryRun: 'true' },
    // It changes nothing, so it may be sent again when its answer is lost.
    repeatable: true,
  })
  const answer = DryRun.parse(body)
  print(options, answer, () => linesOf(answer))
}

function linesOf({ wouldBeRefused, sentences }: z.infer<typeof DryRun>): string[] {
  if (wouldBeRefused) return [`It would be refused: ${wouldBeRefused.error}.`]
  if (sentences.length === 0) return ['It would change nothing.']
  return ['It would change:', ...sentences.map((sentence) => `  - ${sentence}`)]
}
