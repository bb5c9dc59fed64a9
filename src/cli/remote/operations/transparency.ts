import { number, required } from './field.ts'
import { type Operation, operation } from './operation.ts'

export const transparencyOperations: readonly Operation[] = [
  operation(
    'getLog',
    'transparency log',
    'GET /v1/transparency/log',
    'Show the name and the keys of the log',
  ),
  operation(
    'proveConsistency',
    'transparency consistency',
    'GET /v1/transparency/consistency',
    'Prove that one state of the log continues an earlier one',
    {
      query: {
        from: number('events of the earlier checkpoint', required),
        to: number('events of the later one', required),
      },
    },
  ),
]
