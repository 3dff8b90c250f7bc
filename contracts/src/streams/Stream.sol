// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.26;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {MerkleProof} from "@openzeppelin/contracts/utils/cryptography/MerkleProof.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {IStream} from "./IStream.sol";
import {IStreamFactory} from "./IStreamFactory.sol";

/// @title The code of every stream
/// @dev Deployed once by the factory; each stream is an EIP-1167 clone of it, so nothing here can be upgraded. The
/// code itself is never initialized: it has no token and nothing funded, so nothing can be allocated or claimed from it.
contract Stream is IStream, ReentrancyGuardTransient {
    using SafeERC20 for IERC20;

    IStreamFactory private immutable _factory;

    address private _rewardToken;
    bool private _claimsPaused;
    address private _admin;
    bytes16 private _streamId;
    uint256 private _totalFunded;
    uint256 private _totalAllocated;
    uint256 private _totalClaimed;
    Root private _current;
    Root private _previous;
    mapping(address user => uint256) private _claimed;

    constructor() {
        _factory = IStreamFactory(msg.sender);
    }

    modifier onlyFactory() {
        if (msg.sender != address(_factory)) revert NotFactory(msg.sender);
        _;
    }

    /// @inheritdoc IStream
    function initialize(bytes16 streamId, address rewardToken, address admin) external onlyFactory {
        if (_rewardToken != address(0)) revert AlreadyInitialized();
        _streamId = streamId;
        _rewardToken = rewardToken;
        _admin = admin;
    }

    /// @inheritdoc IStream
    function recordFunds(uint256 amount) external onlyFactory {
        _totalFunded += amount;
        emit Funded(amount);
    }

    /// @inheritdoc IStream
    function setClaimsPaused(bool paused) external onlyFactory {
        _claimsPaused = paused;
        emit ClaimsPausedSet(paused);
    }

    /// @inheritdoc IStream
    function withdraw(address to, uint256 amount) external onlyFactory nonReentrant {
        if (amount == 0) revert ZeroAmount();
        if (to == address(0) || to == address(this)) revert InvalidReceiver(to);
        uint256 withdrawable = getWithdrawable();
        if (amount > withdrawable) revert AmountAboveWithdrawable(withdrawable, amount);
        emit Withdrawn(to, amount);
        _pay(to, amount);
    }

    /// @inheritdoc IStream
    function updateRoot(bytes32 root, uint40 timestamp, uint256 totalAllocated) external {
        if (msg.sender != _factory.getRole(IStreamFactory.Role.Committer)) revert NotCommitter(msg.sender);
        if (_factory.paused()) revert FactoryIsPaused();
        if (root == bytes32(0)) revert ZeroRoot();
        if (timestamp <= _current.timestamp) revert TimestampNotIncreasing(_current.timestamp, timestamp);
        if (timestamp > block.timestamp) revert TimestampInFuture(timestamp);
        if (totalAllocated < _totalAllocated) revert AllocationDecreasing(_totalAllocated, totalAllocated);
        if (totalAllocated > _totalFunded) revert AllocationAboveFunded(_totalFunded, totalAllocated);
        uint256 owed = totalAllocated - _totalClaimed;
        uint256 balance = _balance();
        if (owed > balance) revert AllocationAboveBalance(balance, owed);
        _previous = _current;
        _current = Root(root, timestamp);
        _totalAllocated = totalAllocated;
        emit RootUpdated(root, timestamp, totalAllocated);
    }

    /// @inheritdoc IStream
    function claim(uint256 amount, uint40 timestamp, bytes32[] calldata proof) external {
        _claim(msg.sender, amount, timestamp, proof);
    }

    /// @inheritdoc IStream
    function claimFor(address user, uint256 amount, uint40 timestamp, bytes32[] calldata proof) external onlyFactory {
        _claim(user, amount, timestamp, proof);
    }

    /// @inheritdoc IStream
    function canClaim(address user, uint256 amount, uint40 timestamp, bytes32[] calldata proof)
        external
        view
        returns (bool)
    {
        bytes32 root = _rootAt(timestamp);
        uint256 claimed = _claimed[user];
        return !_factory.paused() && !_claimsPaused && root != bytes32(0)
            && MerkleProof.verifyCalldata(proof, root, _leaf(user, amount)) && amount > claimed
            && amount - claimed <= _totalAllocated - _totalClaimed;
    }

    /// @inheritdoc IStream
    function getClaimedRewards(address user) external view returns (uint256) {
        return _claimed[user];
    }

    /// @inheritdoc IStream
    function getRewardToken() external view returns (address) {
        return _rewardToken;
    }

    /// @inheritdoc IStream
    function getAdmin() external view returns (address) {
        return _admin;
    }

    /// @inheritdoc IStream
    function getStreamId() external view returns (bytes16) {
        return _streamId;
    }

    /// @inheritdoc IStream
    function getFactory() external view returns (address) {
        return address(_factory);
    }

    /// @inheritdoc IStream
    function getTotalFunded() external view returns (uint256) {
        return _totalFunded;
    }

    /// @inheritdoc IStream
    function getTotalAllocated() external view returns (uint256) {
        return _totalAllocated;
    }

    /// @inheritdoc IStream
    function getTotalClaimed() external view returns (uint256) {
        return _totalClaimed;
    }

    /// @inheritdoc IStream
    function getRoots() external view returns (Root memory current, Root memory previous) {
        return (_current, _previous);
    }

    /// @inheritdoc IStream
    function areClaimsPaused() external view returns (bool) {
        return _claimsPaused;
    }

    /// @inheritdoc IStream
    function getWithdrawable() public view returns (uint256) {
        return Math.saturatingSub(_balance(), _totalAllocated - _totalClaimed);
    }

    /// @dev Invariant: Σ _claimed = _totalClaimed ≤ _totalAllocated ≤ _totalFunded.
    function _claim(address user, uint256 amount, uint40 timestamp, bytes32[] calldata proof) private nonReentrant {
        if (_factory.paused()) revert FactoryIsPaused();
        if (_claimsPaused) revert ClaimsArePaused();
        bytes32 root = _rootAt(timestamp);
        if (root == bytes32(0)) revert UnknownRoot(timestamp);
        if (!MerkleProof.verifyCalldata(proof, root, _leaf(user, amount))) revert InvalidProof();
        uint256 claimed = _claimed[user];
        if (amount <= claimed) revert NothingToClaim(user, claimed, amount);
        uint256 open = amount - claimed;
        uint256 left = _totalAllocated - _totalClaimed;
        if (open > left) revert AllocationExhausted(left, open);
        _claimed[user] = amount;
        _totalClaimed += open;
        emit RewardsClaimed(user, open, amount, timestamp);
        _pay(user, open);
    }

    /// @dev Sends `amount`, and refuses a token that takes more from the stream than that: it would be the others'.
    function _pay(address to, uint256 amount) private {
        uint256 before = _balance();
        IERC20(_rewardToken).safeTransfer(to, amount);
        uint256 taken = Math.saturatingSub(before, _balance());
        if (taken > amount) revert TokenTookMore(amount, taken);
    }

    function _balance() private view returns (uint256) {
        return IERC20(_rewardToken).balanceOf(address(this));
    }

    /// @dev The root of this time, or 0. A root is never 0 and its time neither, so 0 finds none before the first.
    function _rootAt(uint40 timestamp) private view returns (bytes32) {
        if (timestamp == _current.timestamp) return _current.root;
        if (timestamp == _previous.timestamp) return _previous.root;
        return bytes32(0);
    }

    /// @dev 52 bytes, so no inner node of the tree (64 bytes) can be passed off as a leaf.
    function _leaf(address user, uint256 amount) private pure returns (bytes32) {
        return keccak256(abi.encodePacked(user, amount));
    }
}
