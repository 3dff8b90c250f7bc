/** Why each function that changes something refuses: each pair has a test of its own under forge. */

const claimReasons = [
  'FactoryIsPaused',
  'ClaimsArePaused',
  'UnknownRoot',
  'InvalidProof',
  'NothingToClaim',
  'AllocationExhausted',
  'TokenTookMore',
  'SafeERC20FailedOperation',
  'ReentrancyGuardReentrantCall',
]

const authorisedReasons = [
  'EnforcedPause',
  'ReentrancyGuardReentrantCall',
  'DeadlineExpired',
  'InvalidSignature',
  'SafeERC20FailedOperation',
]

/** Of the factory; `constructor` stands for its deployment. `Panic` is Solidity's own, of a sum above 2^256 − 1. */
export const factoryRefusals: Record<string, readonly string[]> = {
  constructor: ['OwnableInvalidOwner', 'ZeroAddress'],
  createStream: [...authorisedReasons, 'NotAToken', 'StreamAlreadyExists', 'ZeroAmount', 'AmountNotReceived'],
  addFunds: [
    ...authorisedReasons,
    'UnknownStream',
    'NotStreamAdmin',
    'SaltAlreadyUsed',
    'ZeroAmount',
    'AmountNotReceived',
    'Panic',
  ],
  withdrawFunds: [
    ...authorisedReasons,
    'UnknownStream',
    'NotStreamAdmin',
    'SaltAlreadyUsed',
    'ZeroAmount',
    'InvalidReceiver',
    'AmountAboveWithdrawable',
    'TokenTookMore',
  ],
  batchClaim: [...claimReasons, 'UnknownStream'],
  batchClaimFor: [...claimReasons, 'UnknownStream', 'NotClaimOperator'],
  setClaimOperator: [],
  setRole: ['OwnableUnauthorizedAccount', 'ZeroAddress'],
  setClaimsPaused: ['NotPauser', 'UnknownStream'],
  pause: ['NotPauser', 'EnforcedPause'],
  unpause: ['OwnableUnauthorizedAccount', 'ExpectedPause'],
  transferOwnership: ['OwnableUnauthorizedAccount'],
  acceptOwnership: ['OwnableUnauthorizedAccount'],
  renounceOwnership: ['OwnableUnauthorizedAccount', 'OwnershipNotRenounceable'],
}

/** Of a stream. */
export const streamRefusals: Record<string, readonly string[]> = {
  claim: claimReasons,
  claimFor: [...claimReasons, 'NotFactory'],
  updateRoot: [
    'NotCommitter',
    'FactoryIsPaused',
    'ZeroRoot',
    'TimestampNotIncreasing',
    'TimestampInFuture',
    'AllocationDecreasing',
    'AllocationAboveFunded',
    'AllocationAboveBalance',
  ],
  initialize: ['NotFactory', 'AlreadyInitialized'],
  recordFunds: ['NotFactory', 'Panic'],
  withdraw: [
    'NotFactory',
    'ZeroAmount',
    'InvalidReceiver',
    'AmountAboveWithdrawable',
    'TokenTookMore',
    'SafeERC20FailedOperation',
    'ReentrancyGuardReentrantCall',
  ],
  setClaimsPaused: ['NotFactory'],
}

/** Of the deposit router. */
export const routerRefusals: Record<string, readonly string[]> = {
  depositWithMinimum: [
    'InvalidReceiver',
    'ZeroMinimum',
    'AmountNotReceived',
    'AmountNotTaken',
    'SharesBelowMinimum',
    'SafeERC20FailedOperation',
    'ReentrancyGuardReentrantCall',
  ],
  redeemWithMinimum: ['InvalidReceiver', 'ZeroMinimum', 'AssetsBelowMinimum', 'ReentrancyGuardReentrantCall'],
  wrapWithMinimum: [
    'InvalidReceiver',
    'ZeroMinimum',
    'AmountNotTaken',
    'SharesBelowMinimum',
    'SafeERC20FailedOperation',
    'ReentrancyGuardReentrantCall',
  ],
  unwrapWithMinimum: [
    'InvalidReceiver',
    'ZeroMinimum',
    'AmountNotTaken',
    'AssetsBelowMinimum',
    'SafeERC20FailedOperation',
    'ReentrancyGuardReentrantCall',
  ],
  depositATokensWithMinimum: [
    'InvalidReceiver',
    'ZeroMinimum',
    'AmountNotTaken',
    'SharesBelowMinimum',
    'SafeERC20FailedOperation',
    'ReentrancyGuardReentrantCall',
  ],
  redeemATokensWithMinimum: ['InvalidReceiver', 'ZeroMinimum', 'AssetsBelowMinimum', 'ReentrancyGuardReentrantCall'],
}

/** Errors of OpenZeppelin's code that these contracts cannot reach, and why. */
export const unreachable: Record<string, string> = {
  FailedDeployment: 'an id that is taken is refused before, and the code deployed is 45 constant bytes',
  InsufficientBalance: 'no native coin is sent along',
  InvalidShortString: 'the name and the version are constants of 23 and 1 bytes',
  StringTooLong: 'the name and the version are constants of 23 and 1 bytes',
}
