// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.26;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {Ownable2Step} from "@openzeppelin/contracts/access/Ownable2Step.sol";
import {Clones} from "@openzeppelin/contracts/proxy/Clones.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {IStream} from "./IStream.sol";
import {IStreamFactory} from "./IStreamFactory.sol";
import {Stream} from "./Stream.sol";

/// @title The factory of reward streams
/// @dev Pulls tokens only from its caller, never holds any, and calls no contract but its streams and their tokens.
contract StreamFactory is IStreamFactory, EIP712, Ownable2Step, Pausable, ReentrancyGuardTransient {
    using SafeERC20 for IERC20;

    bytes private constant CREATE_STREAM_PARAMS_TYPE =
        "CreateStreamParams(bytes16 streamId,address rewardToken,uint256 netTotalAmount,uint256 feeAmount)";
    bytes private constant ADD_FUNDS_PARAMS_TYPE = "AddFundsParams(address stream,uint256 netAmount,uint256 feeAmount)";
    bytes private constant WITHDRAW_FUNDS_PARAMS_TYPE = "WithdrawFundsParams(address stream,address to,uint256 amount)";

    bytes32 private constant CREATE_STREAM_PARAMS_TYPEHASH = keccak256(CREATE_STREAM_PARAMS_TYPE);
    bytes32 private constant ADD_FUNDS_PARAMS_TYPEHASH = keccak256(ADD_FUNDS_PARAMS_TYPE);
    bytes32 private constant WITHDRAW_FUNDS_PARAMS_TYPEHASH = keccak256(WITHDRAW_FUNDS_PARAMS_TYPE);

    bytes32 private constant CREATE_STREAM_TYPEHASH = keccak256(
        bytes.concat(
            "CreateStream(address creator,CreateStreamParams params,uint40 deadline)", CREATE_STREAM_PARAMS_TYPE
        )
    );
    bytes32 private constant ADD_FUNDS_TYPEHASH = keccak256(
        bytes.concat("AddFunds(address admin,AddFundsParams params,bytes32 salt,uint40 deadline)", ADD_FUNDS_PARAMS_TYPE)
    );
    bytes32 private constant WITHDRAW_FUNDS_TYPEHASH = keccak256(
        bytes.concat(
            "WithdrawFunds(address admin,WithdrawFundsParams params,bytes32 salt,uint40 deadline)",
            WITHDRAW_FUNDS_PARAMS_TYPE
        )
    );

    address private immutable _implementation;
    mapping(Role role => address) private _roles;
    mapping(address stream => bool) private _streams;
    mapping(bytes32 salt => bool) private _usedSalts;
    mapping(address user => mapping(address operator => bool)) private _claimOperators;

    /// @param owner_ hands out the roles and unpauses.
    /// @param holders who has each role, in the order of `Role`.
    constructor(address owner_, address[5] memory holders) EIP712("OpenEarn Stream Factory", "1") Ownable(owner_) {
        _implementation = address(new Stream());
        for (uint8 role = 0; role < holders.length; role++) {
            _setRole(Role(role), holders[role]);
        }
    }

    modifier onlyPauserOrOwner() {
        if (msg.sender != _roles[Role.Pauser] && msg.sender != owner()) revert NotPauser(msg.sender);
        _;
    }

    /// @inheritdoc IStreamFactory
    function createStream(CreateStreamParams calldata params, uint40 deadline, bytes calldata signature)
        external
        whenNotPaused
        nonReentrant
        returns (address stream)
    {
        _checkSignature(
            Role.CreateVerifier, _hashCreateStream(msg.sender, params, deadline), deadline, signature
        );
        if (params.rewardToken.code.length == 0) revert NotAToken(params.rewardToken);
        stream = getStreamAddress(params.streamId);
        if (_streams[stream]) revert StreamAlreadyExists(params.streamId);
        _streams[stream] = true;
        Clones.cloneDeterministic(_implementation, params.streamId);
        IStream(stream).initialize(params.streamId, params.rewardToken, msg.sender);
        emit StreamCreated(
            params.streamId, stream, msg.sender, params.rewardToken, params.netTotalAmount, params.feeAmount
        );
        _fund(stream, params.rewardToken, params.netTotalAmount, params.feeAmount);
    }

    /// @inheritdoc IStreamFactory
    function addFunds(AddFundsParams calldata params, bytes32 salt, uint40 deadline, bytes calldata signature)
        external
        whenNotPaused
        nonReentrant
    {
        _checkSignature(
            Role.CreateVerifier, _hashAddFunds(msg.sender, params, salt, deadline), deadline, signature
        );
        bytes16 streamId = _checkAdmin(params.stream);
        _useSalt(salt);
        emit FundsAdded(streamId, params.stream, salt, msg.sender, params.netAmount, params.feeAmount);
        _fund(params.stream, IStream(params.stream).getRewardToken(), params.netAmount, params.feeAmount);
    }

    /// @inheritdoc IStreamFactory
    function withdrawFunds(WithdrawFundsParams calldata params, bytes32 salt, uint40 deadline, bytes calldata signature)
        external
        whenNotPaused
        nonReentrant
    {
        _checkSignature(
            Role.WithdrawVerifier, _hashWithdrawFunds(msg.sender, params, salt, deadline), deadline, signature
        );
        bytes16 streamId = _checkAdmin(params.stream);
        _useSalt(salt);
        emit FundsWithdrawn(streamId, params.stream, salt, msg.sender, params.to, params.amount);
        IStream(params.stream).withdraw(params.to, params.amount);
    }

    /// @inheritdoc IStreamFactory
    function batchClaim(StreamClaim[] calldata claims) external nonReentrant {
        _batchClaim(msg.sender, claims);
    }

    /// @inheritdoc IStreamFactory
    function batchClaimFor(address user, StreamClaim[] calldata claims) external nonReentrant {
        if (!_claimOperators[user][msg.sender]) revert NotClaimOperator(user, msg.sender);
        _batchClaim(user, claims);
    }

    /// @inheritdoc IStreamFactory
    function setClaimOperator(address operator, bool allowed) external {
        _claimOperators[msg.sender][operator] = allowed;
        emit ClaimOperatorSet(msg.sender, operator, allowed);
    }

    /// @inheritdoc IStreamFactory
    function setRole(Role role, address holder) external onlyOwner {
        _setRole(role, holder);
    }

    /// @inheritdoc IStreamFactory
    function setClaimsPaused(address stream, bool paused_) external onlyPauserOrOwner {
        _checkStream(stream);
        IStream(stream).setClaimsPaused(paused_);
    }

    /// @inheritdoc IStreamFactory
    function pause() external onlyPauserOrOwner {
        _pause();
    }

    /// @inheritdoc IStreamFactory
    function unpause() external onlyOwner {
        _unpause();
    }

    /// @notice Always refused: see {OwnershipNotRenounceable}.
    function renounceOwnership() public view override onlyOwner {
        revert OwnershipNotRenounceable();
    }

    /// @inheritdoc IStreamFactory
    function getRole(Role role) external view returns (address) {
        return _roles[role];
    }

    /// @inheritdoc IStreamFactory
    function getStreamImplementation() external view returns (address) {
        return _implementation;
    }

    /// @inheritdoc IStreamFactory
    function isStream(address stream) external view returns (bool) {
        return _streams[stream];
    }

    /// @inheritdoc IStreamFactory
    function isSaltUsed(bytes32 salt) external view returns (bool) {
        return _usedSalts[salt];
    }

    /// @inheritdoc IStreamFactory
    function isClaimOperator(address user, address operator) external view returns (bool) {
        return _claimOperators[user][operator];
    }

    /// @inheritdoc IStreamFactory
    function getCreateStreamDigest(address creator, CreateStreamParams calldata params, uint40 deadline)
        external
        view
        returns (bytes32)
    {
        return _hashTypedDataV4(_hashCreateStream(creator, params, deadline));
    }

    /// @inheritdoc IStreamFactory
    function getAddFundsDigest(address admin, AddFundsParams calldata params, bytes32 salt, uint40 deadline)
        external
        view
        returns (bytes32)
    {
        return _hashTypedDataV4(_hashAddFunds(admin, params, salt, deadline));
    }

    /// @inheritdoc IStreamFactory
    function getWithdrawFundsDigest(address admin, WithdrawFundsParams calldata params, bytes32 salt, uint40 deadline)
        external
        view
        returns (bytes32)
    {
        return _hashTypedDataV4(_hashWithdrawFunds(admin, params, salt, deadline));
    }

    /// @inheritdoc IStreamFactory
    function getStreamAddress(bytes16 streamId) public view returns (address) {
        return Clones.predictDeterministicAddress(_implementation, streamId);
    }

    /// @inheritdoc IStreamFactory
    function paused() public view override(IStreamFactory, Pausable) returns (bool) {
        return super.paused();
    }

    /// @dev Pulls `netAmount` into the stream and the fee to its collector, both from the caller alone.
    function _fund(address stream, address rewardToken, uint256 netAmount, uint256 feeAmount) private {
        if (netAmount == 0) revert ZeroAmount();
        IStream(stream).recordFunds(netAmount);
        IERC20 token = IERC20(rewardToken);
        uint256 before = token.balanceOf(stream);
        token.safeTransferFrom(msg.sender, stream, netAmount);
        uint256 received = Math.saturatingSub(token.balanceOf(stream), before);
        if (received != netAmount) revert AmountNotReceived(netAmount, received);
        if (feeAmount > 0) token.safeTransferFrom(msg.sender, _roles[Role.FeeCollector], feeAmount);
    }

    function _batchClaim(address user, StreamClaim[] calldata claims) private {
        for (uint256 i = 0; i < claims.length; i++) {
            _checkStream(claims[i].stream);
            IStream(claims[i].stream).claimFor(user, claims[i].amount, claims[i].timestamp, claims[i].proof);
        }
    }

    function _setRole(Role role, address holder) private {
        if (holder == address(0)) revert ZeroAddress();
        emit RoleSet(role, _roles[role], holder);
        _roles[role] = holder;
    }

    function _useSalt(bytes32 salt) private {
        if (_usedSalts[salt]) revert SaltAlreadyUsed(salt);
        _usedSalts[salt] = true;
    }

    function _checkStream(address stream) private view {
        if (!_streams[stream]) revert UnknownStream(stream);
    }

    /// @dev The id of a stream of this factory whose admin is the caller.
    function _checkAdmin(address stream) private view returns (bytes16) {
        _checkStream(stream);
        if (msg.sender != IStream(stream).getAdmin()) revert NotStreamAdmin(msg.sender);
        return IStream(stream).getStreamId();
    }

    /// @dev OpenZeppelin's ECDSA takes 65 bytes with a low s only, so a signature has one form.
    function _checkSignature(Role verifier, bytes32 structHash, uint40 deadline, bytes calldata signature)
        private
        view
    {
        if (block.timestamp > deadline) revert DeadlineExpired(deadline);
        (address signer, ECDSA.RecoverError problem,) =
            ECDSA.tryRecoverCalldata(_hashTypedDataV4(structHash), signature);
        if (problem != ECDSA.RecoverError.NoError || signer != _roles[verifier]) revert InvalidSignature();
    }

    function _hashCreateStream(address creator, CreateStreamParams calldata params, uint40 deadline)
        private
        pure
        returns (bytes32)
    {
        bytes32 paramsHash = keccak256(
            abi.encode(
                CREATE_STREAM_PARAMS_TYPEHASH,
                params.streamId,
                params.rewardToken,
                params.netTotalAmount,
                params.feeAmount
            )
        );
        return keccak256(abi.encode(CREATE_STREAM_TYPEHASH, creator, paramsHash, deadline));
    }

    function _hashAddFunds(address admin, AddFundsParams calldata params, bytes32 salt, uint40 deadline)
        private
        pure
        returns (bytes32)
    {
        bytes32 paramsHash =
            keccak256(abi.encode(ADD_FUNDS_PARAMS_TYPEHASH, params.stream, params.netAmount, params.feeAmount));
        return keccak256(abi.encode(ADD_FUNDS_TYPEHASH, admin, paramsHash, salt, deadline));
    }

    function _hashWithdrawFunds(address admin, WithdrawFundsParams calldata params, bytes32 salt, uint40 deadline)
        private
        pure
        returns (bytes32)
    {
        bytes32 paramsHash =
            keccak256(abi.encode(WITHDRAW_FUNDS_PARAMS_TYPEHASH, params.stream, params.to, params.amount));
        return keccak256(abi.encode(WITHDRAW_FUNDS_TYPEHASH, admin, paramsHash, salt, deadline));
    }
}
