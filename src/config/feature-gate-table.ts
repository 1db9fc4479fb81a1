export type Stage = 'ALPHA' | 'BETA' | 'GA' | 'DEPRECATED';

export interface FeatureGate {
  readonly name: string;
  readonly stage: Stage;
  readonly default: boolean;
  /** A locked gate can be set only to its default. */
  readonly locked: boolean;
}

/** All gates that kube-proxy v1.37 knows. Most concern other programs, but a file may set any of them. */
export const FEATURE_GATES: ReadonlyMap<string, FeatureGate> = table([
  ...group(
    { stage: 'ALPHA', default: false, locked: false },
    `
      APIServerWebhookAuthenticationToken APIServingWithRoutine AtomicWriteVolumeUserFields CBORServingAndStorage
      CPUManagerPolicyAlphaOptions CRIListStreaming CSIVolumeHealth ClientsAllowCBOR ClientsPreferCBOR
      CloudControllerManagerWatchBasedRoutesReconciliation CloudControllerManagerWebhook CompositePodGroup
      ConsistentListFromCacheSkipTimeoutFallback ContainerStopSignals ControllerManagerReleaseLeaderElectionLockOnExit
      CrossNamespaceVolumeDataSource DRADerivedAttributes DRADeviceCompatibilityGroups DRAListTypeAttributes
      DRANodeAllocatableResources DRAOptionalNodeOperations DRAPartitionableDevicesType DRAResourcePoolStatus
      DefaultPodSysctls EmptyDirVolumeMode EventedPLEG EvictionRequestAPI GRPCContainerProbeTLS H2CContainerProbe
      ImageVolumeWithDigest InPlacePodVerticalScalingExclusiveCPUs InPlacePodVerticalScalingExclusiveMemory
      InPlacePodVerticalScalingMemoryBackedVolumes InPlacePodVerticalScalingSchedulerPreemption
      InterPodAffinityHostnameFastPath KubeProxyNFTablesLocalhostNodePorts KubeletAllocatedPodsEndpoint
      LoggingAlphaOptions MutablePVNodeAffinity NodeLifecycleConditions PodGroupPreemptionPolicy
      PodLogsQuerySplitStreams QOSReserved ReduceDefaultCrashLoopBackOffDecay RuntimeClassInImageCriApi
      SchedulerPreQueueingHints ShardedListAndWatch StatefulSetRecreateStrategy StorageVersionAPI
      TaintTolerationComparisonOperators TopologyAwareWorkloadScheduling TopologyManagerPolicyAlphaOptions
      UserNamespacesHostNetworkSupport VolumeBindMountOptions WindowsCPUAndMemoryAffinity WorkloadWithJob
    `,
  ),
  ...group(
    { stage: 'BETA', default: false, locked: false },
    `
      CoordinatedLeaderElection DRAFractionalCapacityRange DRAWorkloadResourceClaims GenericWorkload
      LocalStorageCapacityIsolationFSQuotaMonitoring PodAndContainerStatsFromCRI PodLevelResourceManagers
      SchedulerAsyncAPICalls
    `,
  ),
  ...group(
    { stage: 'BETA', default: true, locked: false },
    `
      APIResponseCompression APIServerIdentity AllowParsingUserUIDFromCertAuth AllowUnsafeMalformedObjectDeletion
      AtomicFIFO AuthorizePodWebsocketUpgradeCreatePermission CPUManagerPolicyBetaOptions CRDObservedGenerationTracking
      ClearingNominatedNodeNameAfterBinding ClientsAllowCARotation ClientsAllowTLSCacheGC ComponentFlagz
      ComponentStatusz ConcurrentWatchObjectDecode ConstrainedImpersonation ContainerCheckpoint ContainerRestartRules
      ContextualLogging DRAConsumableCapacity DRADeviceBindingConditions DRAPartitionableDevices
      DRAResourceClaimGranularStatusAuthorization DRASchedulerFilterTimeout DeclarativeValidationBeta
      DeploymentReplicaSetTerminatingReplicas DetectCacheInconsistency EnvFiles EtcdRangeStream
      ExcludeAdmissionWebhookVirtualResources ExtendWebSocketsToKubelet GracefulNodeShutdown
      GracefulNodeShutdownBasedOnPodPriority HPAGeneration HPAOptimizedSelectorStore HPAScaleToZero
      HugepageAwareEviction InOrderInformersBatchProcess InPlacePodLevelResourcesVerticalScaling
      KubeletCrashLoopBackOffMax KubeletEnsureSecretPulledImages KubeletInUserNamespace KubeletSeparateDiskGC
      KubeletServiceAccountTokenForCredentialProviders ListFromCacheSnapshot LoggingBetaOptions
      ManifestBasedAdmissionControlConfig MatchLabelKeysInPodTopologySpread
      MatchLabelKeysInPodTopologySpreadSelectorMerge MaxUnavailableStatefulSet MemoryQoS
      MutablePodResourcesForSuspendedJobs MutableSchedulingDirectivesForSuspendedJobs NFTablesNetlink NativeHistograms
      NodeControllerLeaseCircuitBreaker NominatedNodeNameForExpectation OpenAPIEnums OpportunisticBatching
      PersistentVolumeClaimUnusedSinceTime PodDeletionCost PodLevelResources PodLevelResourcesFixDefaulting
      PodLevelResourcesFixKubeletQOSClass PodTopologyLabelsAdmission PodsAPI PortForwardWebsockets
      ReloadKubeletClientCAFile ReloadKubeletServerCertificateFile RemoteRequestHeaderUID ResourceHealthStatus
      ResourceHealthStatusMessage RestartAllContainersOnContainerExits RotateKubeletServerCertificate
      SchedulerAsyncPreemption SchedulerPopFromBackoffQ ServiceAccountNodeAudienceRestriction SizeBasedListCostEstimate
      StaleControllerConsistencyDaemonSet StaleControllerConsistencyHPA StaleControllerConsistencyJob
      StaleControllerConsistencyReplicaSet StaleControllerConsistencyStatefulSet StatefulSetSemanticRevisionComparison
      StorageCapacityScoring StorageVersionHash StrictIPCIDRValidation
      StructuredAuthenticationConfigurationEgressSelector StructuredAuthenticationConfigurationJWKSMetrics
      TokenRequestServiceAccountUIDValidation TopologyManagerPolicyBetaOptions TranslateStreamCloseWebsocketRequests
      UnauthenticatedHTTP2DOSMitigation UnknownVersionInteroperabilityProxy UnlockWhileProcessingFIFO VolumeLimitScaling
      WatchList WatchListClient WatchListCompression WebhookRoundTripLoadBalancing WindowsGracefulNodeShutdown
    `,
  ),
  ...group(
    { stage: 'GA', default: true, locked: false },
    `
      AllowServiceExternalIPs ClusterTrustBundle ClusterTrustBundleProjection CustomCPUCFSQuotaPeriod
      DRADeviceTaintRules DRADeviceTaints InformerResourceVersion MutatingAdmissionPolicy PodCertificateRequest
      SELinuxMount StorageVersionMigrator
    `,
  ),
  ...group(
    { stage: 'GA', default: true, locked: true },
    `
      CPUManagerPolicyOptions CRDValidationRatcheting CSIServiceAccountTokenSecrets CustomResourceFieldSelectors
      DRAAdminAccess DRAExtendedResource DRAPrioritizedList DRAResourceClaimDeviceStatus DeclarativeValidation
      DisableAllocatorDualWrite DynamicResourceAllocation ExecProbeTimeout ExternalServiceAccountTokenSigner
      HPAConfigurableTolerance HostnameOverride ImageMaximumGCAge ImageVolume InOrderInformers InPlacePodVerticalScaling
      InPlacePodVerticalScalingInitContainers JobManagedBy KubeletCgroupDriverFromCRI KubeletFineGrainedAuthz KubeletPSI
      KubeletPodResourcesDynamicResources KubeletPodResourcesGet KubeletTracing MatchLabelKeysInPodAffinity
      MultiCIDRServiceAllocator MutableCSINodeAllocatableCount NFTablesProxyMode NodeDeclaredFeatures
      NodeInclusionPolicyInPodTopologySpread NodeLogQuery NodeSwap PLEGOnDemandRelist PodObservedGenerationTracking
      PodReadyToStartContainersCondition PodSchedulingReadiness PreferSameTrafficDistribution ProcMountType
      RecoverVolumeExpansionFailure RecursiveReadOnlyMounts RelaxedEnvironmentVariableValidation
      RelaxedServiceNameValidation SELinuxChangePolicy SELinuxMountReadWriteOncePod SeparateTaintEvictionController
      ServiceAccountTokenJTI ServiceAccountTokenNodeBinding ServiceAccountTokenNodeBindingValidation
      ServiceAccountTokenPodNodeInfo SupplementalGroupsPolicy SystemdWatchdog TopologyManagerPolicyOptions
      UserNamespacesSupport VolumeAttributesClass WatchCacheInitializationPostStartHook WinDSR WinOverlay
    `,
  ),
  ...group(
    { stage: 'DEPRECATED', default: false, locked: false },
    `
      AllowDNSOnlyNodeCSR AllowInsecureKubeletCertificateSigningRequests ChangeContainerStatusOnKubeletRestart KMSv1
      KubeletRegistrationGetOnExistsOnly WindowsHostNetwork
    `,
  ),
  ...group(
    { stage: 'DEPRECATED', default: true, locked: false },
    `
      KubeProxyIPVS KubeletPodResourcesListUseActivePods ServiceCIDRStatusFieldWiping StorageNamespaceIndex
    `,
  ),
  ...group(
    { stage: 'DEPRECATED', default: false, locked: true },
    `
      AllowOverwriteTerminationGracePeriodSeconds DeclarativeValidationTakeover GitRepoVolumeDriver
      SeparateCacheWatchRPC
    `,
  ),
  ...group(
    { stage: 'DEPRECATED', default: true, locked: true },
    `
      AggregatedDiscoveryRemoveBetaType DisableCPUQuotaWithExclusiveCPUs DisableNodeKubeProxyVersion
    `,
  ),
]);

/**
 * The gates that kube-proxy v1.36 knows, and v1.37 no longer. A file that was written for v1.36 may set them. They have
 * no effect, and neither the help nor a metric shows them.
 */
export const FORMER_GATES: ReadonlyMap<string, FeatureGate> = table([
  ...group(
    { stage: 'ALPHA', default: false, locked: false },
    `
      GangScheduling WorkloadAwarePreemption
    `,
  ),
  ...group(
    { stage: 'BETA', default: true, locked: false },
    `
      PreventStaticPodAPIReferences
    `,
  ),
  ...group(
    { stage: 'GA', default: true, locked: true },
    `
      APIServerTracing AnonymousAuthConfigurableEndpoints AnyVolumeDataSource AuthorizeNodeWithSelectors
      AuthorizeWithSelectors BtreeWatchCache ConsistentListFromCache JobBackoffLimitPerIndex JobPodReplacementPolicy
      JobSuccessPolicy LogarithmicScaleDown OrderedNamespaceDeletion PodLifecycleSleepAction
      PodLifecycleSleepActionAllowZero RelaxedDNSSearchValidation ResilientWatchCacheInitialization RetryGenerateName
      SchedulerQueueingHints SidecarContainers StreamingCollectionEncodingToJSON StreamingCollectionEncodingToProtobuf
      StructuredAuthenticationConfiguration
    `,
  ),
]);

/** The gates that v1.37 locks, and that a file for v1.36 may still set to the other value. That has no effect. */
export const NEWLY_LOCKED_GATES: ReadonlySet<string> = new Set(
  `
    DRAExtendedResource DRAPrioritizedList DRAResourceClaimDeviceStatus DeclarativeValidationTakeover
    DisableCPUQuotaWithExclusiveCPUs HPAConfigurableTolerance HostnameOverride InPlacePodVerticalScalingInitContainers
    NodeDeclaredFeatures PLEGOnDemandRelist PodReadyToStartContainersCondition RelaxedServiceNameValidation
    WatchCacheInitializationPostStartHook
  `
    .trim()
    .split(/\s+/),
);

function table(gates: readonly FeatureGate[]): ReadonlyMap<string, FeatureGate> {
  return new Map(gates.map(gate => [gate.name, gate]));
}

function group(common: Omit<FeatureGate, 'name'>, names: string): FeatureGate[] {
  return names
    .trim()
    .split(/\s+/)
    .map(name => ({ name, ...common }));
}
