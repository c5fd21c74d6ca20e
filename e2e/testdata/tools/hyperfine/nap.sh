# What hyperfine measures, for TestReadTools.
sleep 0.01
