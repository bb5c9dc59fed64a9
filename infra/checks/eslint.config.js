// Biome formats and lints; this holds only the rules that need types.
import tseslint from 'typescript-eslint'
import { errorHandlers } from './error-handlers.js'

// `Number('')` is 0: a number that a person typed, or that a variable holds, is read by src/numbers.ts.
const readIt = 'Read it with src/numbers.ts, which refuses what is no decimal number.'
const numbersFromText = [
  'CallExpression[callee.name=/^(Number|parseInt|parseFloat)$/]',
  'MemberExpression[object.name="Number"][property.name=/^parse/]',
  'MemberExpression[object.name="z"][property.name="coerce"]',
  'CallExpression > Identifier.arguments[name="Number"]',
  'UnaryExpression[operator="+"]',
].map((selector) => ({ selector, message: readIt }))
const numberFromVariable = {
  selector:
    ':matches(CallExpression[callee.name=/^(Number|parseInt|parseFloat)$/], CallExpression[callee.object.name="Number"]) MemberExpression[object.property.name="env"]',
  message: readIt,
}

export default tseslint.config(
  {
    ignores: [
      'node_modules/**',
      'dist/**',
      '.keyledger/**',
      'test/flows/typed-client/{journey,program}.ts',
      'test/flows/typed-client/additions/**',
    ],
  },
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.base],
    languageOptions: { parserOptions: { project: ['../../tsconfig.json'] } },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true, requireDefaultForNonUnion: false },
      ],
      '@typescript-eslint/no-unsafe-assignment': 'error',
      '@typescript-eslint/no-unsafe-member-access': 'error',
      '@typescript-eslint/no-unsafe-call': 'error',
      '@typescript-eslint/no-unsafe-return': 'error',
      '@typescript-eslint/no-unsafe-argument': 'error',
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/only-throw-error': 'error',
      '@typescript-eslint/prefer-promise-reject-errors': 'error',
      'max-lines': ['error', { max: 400 }],
    },
  },
  {
    files: ['src/**/*.ts', 'projections/**/*.ts', 'infra/**/*.ts'],
    plugins: { keyledger: { rules: { 'error-handlers': errorHandlers } } },
    rules: { 'keyledger/error-handlers': 'error' },
  },
  {
    files: ['{infra,projections,src,test}/**/*.ts'],
    rules: { 'no-restricted-syntax': ['error', numberFromVariable] },
  },
  {
    files: [
      'src/cli/**/*.ts',
      'src/config.ts',
      'src/config/**/*.ts',
      'src/verifier/{standalone,trust}.ts',
      'test/{bench,chaos}/{main,scale,soak,appender}.ts',
    ],
    rules: { 'no-restricted-syntax': ['error', ...numbersFromText] },
  },
)
