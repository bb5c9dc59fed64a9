import { z } from 'zod'

/** A proof that an event is in the signed log. */
export const receiptOut = z
  .object({
    record: z.string().meta({
      description: 'The event as canonical JSON (RFC 8785), to the byte',
      example: '{"data":{"licenseId":"lic_06f5w3k8hx7vq2m4n9t1r0s5zc", …},"type":"LicenseMinted"}',
    }),
    proof: z.string().meta({
      description: 'Its place in the log, and the signed checkpoint: C2SP tlog-proof',
      example: 'c2sp.org/tlog-proof@v1\nindex 4711\n…',
    }),
  })
  .meta({ id: 'Receipt', description: 'A proof that an event is in the signed log' })
