// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.26;

/// @title Creates reward streams and is the only way in which money enters or leaves them, claims aside
/// @notice Creating, funding and withdrawing each need two to agree: the admin, who sends the transaction and whose
/// tokens move, and a verifier, whose EIP-712 signature over exactly these values the admin hands in. The domain of
/// the typed data is read with `eip712Domain` (EIP-5267). All amounts are smallest units of the reward token.
interface IStreamFactory {
    /// @notice Who may do what; see SECURITY.md for the worst each can do.
    /// @custom:member CreateVerifier signs creations and additions of funds.
    /// @custom:member WithdrawVerifier signs withdrawals.
    /// @custom:member Committer commits the roots of every stream.
    /// @custom:member FeeCollector receives the fees.
    /// @custom:member Pauser stops the factory, and stops and resumes the claims of one stream.
    enum Role {
        CreateVerifier,
        WithdrawVerifier,
        Committer,
        FeeCollector,
        Pauser
    }

    /// @notice A new stream.
    /// @custom:member streamId a UUID; it alone decides the stream's address.
    /// @custom:member rewardToken the ERC-20 that is paid out.
    /// @custom:member netTotalAmount what the stream receives.
    /// @custom:member feeAmount what the fee collector receives on top.
    struct CreateStreamParams {
        bytes16 streamId;
        address rewardToken;
        uint256 netTotalAmount;
        uint256 feeAmount;
    }

    /// @notice More funds for a stream.
    /// @custom:member stream a stream of this factory.
    /// @custom:member netAmount what the stream receives.
    /// @custom:member feeAmount what the fee collector receives on top.
    struct AddFundsParams {
        address stream;
        uint256 netAmount;
        uint256 feeAmount;
    }

    /// @notice Funds taken back from a stream.
    /// @custom:member stream a stream of this factory.
    /// @custom:member to who receives them.
    /// @custom:member amount how much.
    struct WithdrawFundsParams {
        address stream;
        address to;
        uint256 amount;
    }

    /// @notice One claim of a batch; the members are those of `IStream.claim`.
    struct StreamClaim {
        address stream;
        uint256 amount;
        uint40 timestamp;
        bytes32[] proof;
    }

    /// @notice A stream exists and holds its budget.
    event StreamCreated(
        bytes16 indexed streamId,
        address indexed stream,
        address indexed creator,
        address rewardToken,
        uint256 netTotalAmount,
        uint256 feeAmount
    );

    /// @notice A stream holds `netAmount` more.
    event FundsAdded(
        bytes16 indexed streamId,
        address indexed stream,
        bytes32 indexed salt,
        address admin,
        uint256 netAmount,
        uint256 feeAmount
    );

    /// @notice `amount` left a stream to `to`.
    event FundsWithdrawn(
        bytes16 indexed streamId,
        address indexed stream,
        bytes32 indexed salt,
        address admin,
        address to,
        uint256 amount
    );

    /// @notice `user` lets `operator` claim for it, or no longer.
    event ClaimOperatorSet(address indexed user, address indexed operator, bool allowed);

    /// @notice `holder` now has `role`, in place of `previous`.
    event RoleSet(Role indexed role, address indexed previous, address indexed holder);

    error DeadlineExpired(uint40 deadline);
    /// @notice Not a signature of the verifier now in office over exactly these values, this sender and this domain.
    error InvalidSignature();
    error SaltAlreadyUsed(bytes32 salt);
    error StreamAlreadyExists(bytes16 streamId);
    /// @notice Not a stream of this factory.
    error UnknownStream(address stream);
    error NotStreamAdmin(address caller);
    error NotClaimOperator(address user, address caller);
    error NotPauser(address caller);
    error NotAToken(address token);
    /// @notice The stream's balance did not grow by what was sent: the token takes a fee or rebases.
    error AmountNotReceived(uint256 sent, uint256 received);
    error ZeroAddress();
    error ZeroAmount();
    /// @notice Without an owner lost keys could never be replaced.
    error OwnershipNotRenounceable();

    /// @notice Makes a stream at the address its id decides, pulls its budget from the caller, and the fee on top.
    /// The caller becomes the stream's admin.
    /// @param deadline the last second at which the signature is good.
    /// @param signature 65 bytes r‖s‖v of the create verifier over `CreateStream(creator = caller, params, deadline)`.
    /// @return stream where the stream is.
    function createStream(CreateStreamParams calldata params, uint40 deadline, bytes calldata signature)
        external
        returns (address stream);

    /// @notice Pulls more funds from the caller, the stream's admin, into its stream, and the fee on top.
    /// @param salt makes the signature good for one use.
    /// @param deadline the last second at which the signature is good.
    /// @param signature of the create verifier over `AddFunds(admin = caller, params, salt, deadline)`.
    function addFunds(AddFundsParams calldata params, bytes32 salt, uint40 deadline, bytes calldata signature)
        external;

    /// @notice Sends funds of the caller's stream that are owed to nobody to `params.to`.
    /// @param salt makes the signature good for one use.
    /// @param deadline the last second at which the signature is good.
    /// @param signature of the withdraw verifier over `WithdrawFunds(admin = caller, params, salt, deadline)`.
    function withdrawFunds(WithdrawFundsParams calldata params, bytes32 salt, uint40 deadline, bytes calldata signature)
        external;

    /// @notice Claims from several streams to the caller; all of them or none.
    function batchClaim(StreamClaim[] calldata claims) external;

    /// @notice Claims from several streams to `user`, who made the caller its operator; all of them or none.
    function batchClaimFor(address user, StreamClaim[] calldata claims) external;

    /// @notice Lets `operator` claim for the caller, to the caller, or no longer.
    function setClaimOperator(address operator, bool allowed) external;

    /// @notice Hands `role` to `holder`. Signatures of a replaced verifier are void at once.
    function setRole(Role role, address holder) external;

    /// @notice Stops or resumes the claims of one stream, and nothing else.
    function setClaimsPaused(address stream, bool paused) external;

    /// @notice Stops everything: creations, funds in and out, roots and claims of every stream.
    function pause() external;

    /// @notice Ends `pause`; only the owner.
    function unpause() external;

    /// @notice Whether everything is stopped.
    function paused() external view returns (bool);

    /// @notice Who has `role`.
    function getRole(Role role) external view returns (address);

    /// @notice The address of the stream with this id, whether it exists or not.
    function getStreamAddress(bytes16 streamId) external view returns (address);

    /// @notice The code every stream of this factory runs.
    function getStreamImplementation() external view returns (address);

    /// @notice Whether `stream` was created here.
    function isStream(address stream) external view returns (bool);

    /// @notice Whether an addition or withdrawal with this salt was executed.
    function isSaltUsed(bytes32 salt) external view returns (bool);

    /// @notice Whether `operator` may claim for `user`.
    function isClaimOperator(address user, address operator) external view returns (bool);

    /// @notice What the create verifier signs for a creation.
    function getCreateStreamDigest(address creator, CreateStreamParams calldata params, uint40 deadline)
        external
        view
        returns (bytes32);

    /// @notice What the create verifier signs for an addition of funds.
    function getAddFundsDigest(address admin, AddFundsParams calldata params, bytes32 salt, uint40 deadline)
        external
        view
        returns (bytes32);

    /// @notice What the withdraw verifier signs for a withdrawal.
    function getWithdrawFundsDigest(address admin, WithdrawFundsParams calldata params, bytes32 salt, uint40 deadline)
        external
        view
        returns (bytes32);
}
