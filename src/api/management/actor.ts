import { z } from 'zod'
import { actorKinds } from '../../history/actors.ts'

export const actorOut = z
  .object({
    kind: z.enum(actorKinds).meta({ description: 'What kind of caller it was', example: 'token' }),
    id: z.string().meta({
      description: 'Its id, or the name of an operator, a provider or a part of keyledger',
      example: 'tok_06f5w3k8hx7vq2m4n9t1r0s5zc',
    }),
    name: z.string().meta({
      description: 'The name of the token, the email address of the member, or else the id',
      example: 'CI',
    }),
  })
  .meta({ description: 'Who caused it' })
