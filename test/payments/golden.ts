import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import type { Provider } from '../../src/domain/integrations/provider.ts'

const Golden = z.object({
  /** Where its shape is documented. */
  source: z.string().startsWith('https://'),
  body: z.unknown().optional(),
  form: z.record(z.string(), z.string()).optional(),
  /** What it comes to; of what is made of the body itself, nothing is said. */
  means: z.looseObject({ type: z.string() }),
})

/** Every golden notification of a provider: its name, the bytes as they are sent, and what they mean. */
export function goldenOf(provider: Provider): { name: string; raw: string; means: object }[] {
  const folder = join(import.meta.dirname, 'golden', provider)
  return readdirSync(folder)
    .sort()
    .map((file) => {
      const { body, form, means } = Golden.parse(JSON.parse(readFileSync(join(folder, file), 'utf8')))
      const raw = form ? new URLSearchParams(form).toString() : JSON.stringify(body)
      return { name: file.replace('.json', ''), raw, means }
    })
}
